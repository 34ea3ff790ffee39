"""Errors of the record. One class, one stable code; the docstring is the default message for the caller."""


class GenerationError(Exception):
    """The command was not accepted."""

    code = "generation_error"

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (self.__doc__ or "").strip())


class InvalidRequest(GenerationError):
    """The request cannot be understood."""

    code = "invalid_request"


class UnknownStage(InvalidRequest):
    """There is no such stage."""

    code = "unknown_stage"


class LayerDisabled(GenerationError):
    """The layer is off. Nothing is generated on it for this book."""

    code = "layer_disabled"


class PermissionRefused(GenerationError):
    """You do not have the permission for this command."""

    code = "permission_denied"


class Conflict(GenerationError):
    """The record is in a state that does not allow this command now."""

    code = "conflict"


class NotFound(GenerationError):
    """The book, chapter or scene does not exist (any more)."""

    code = "not_found"


class IdempotencyConflict(GenerationError):
    """The same key was used before for another command."""

    code = "idempotency_conflict"


class TransitionRefused(GenerationError):
    """The asset may not change to this state from the state it is in."""

    code = "transition_refused"


class ImportRefused(GenerationError):
    """The file cannot be imported."""

    code = "import_refused"


class KeyTaken(ImportRefused):
    """There is already a book with this key."""

    code = "key_taken"


class ExportRefused(GenerationError):
    """The export cannot be written there."""

    code = "export_refused"


class BadMedia(GenerationError):
    """The file is not what its stage makes, or does not decode."""

    code = "bad_output"


class StoreMismatch(GenerationError):
    """The artifact storage does not belong to this database."""

    code = "store_mismatch"
