"""The HTTP face of what makes the record so."""
