#!/usr/bin/env python
import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "animastor_site.settings")
    from django.core.management import execute_from_command_line
    from django.db import OperationalError

    try:
        execute_from_command_line(sys.argv)
        sys.stdout.flush()
    except OperationalError as error:
        sys.exit(
            f"PostgreSQL cannot be used: {str(error).strip()}\n"
            "Start the embedded servers with `manage.py services start`, or check DATABASE_URL."
        )
    except BrokenPipeError:
        # Whoever read has gone, as in `| head`. Python would flush once more when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


if __name__ == "__main__":
    main()
