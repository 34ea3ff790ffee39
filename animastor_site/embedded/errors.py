class EmbeddedError(Exception):
    """An embedded server cannot be used; the message tells the operator what to do."""
