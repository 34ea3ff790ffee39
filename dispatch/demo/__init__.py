"""Everything on one machine: what `manage.py demo` starts and prepares."""
