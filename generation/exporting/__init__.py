"""A book as files that any player opens: reading only, nothing is generated."""
