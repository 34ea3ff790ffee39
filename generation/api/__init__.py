"""The HTTP face: validate, one command or selector, show."""
