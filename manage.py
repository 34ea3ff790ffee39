#!/usr/bin/env python
import os
import select
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "animastor_site.settings")
    from django.core.management import execute_from_command_line
    from django.db import OperationalError

    try:
        try:
            execute_from_command_line(sys.argv)
        finally:
            if sys.stdout is not None:  # as it is when it was closed before we began
                sys.stdout.flush()
    except OperationalError as error:
        sys.exit(
            f"PostgreSQL cannot be used: {str(error).strip()}\n"
            "Start the embedded servers with `manage.py services start`, or check DATABASE_URL."
        )
    except BrokenPipeError:
        if not reader_has_gone():
            raise
        # Python would flush once more when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def reader_has_gone() -> bool:
    """Return whether nobody reads our output any more, as in `| head`."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


if __name__ == "__main__":
    main()
