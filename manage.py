#!/usr/bin/env python
import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "animastor_site.settings")
    from django.core.management import execute_from_command_line
    from django.db import OperationalError

    try:
        execute_from_command_line(sys.argv)
    except OperationalError as error:
        sys.exit(
            f"PostgreSQL cannot be used: {str(error).strip()}\n"
            "Start the embedded servers with `manage.py services start`, or check DATABASE_URL."
        )


if __name__ == "__main__":
    main()
