"""What a file's name says about a book that does not say its title."""

from pathlib import PurePath

LONGEST = 500


def title_of(filename: str) -> str:
    """Return a title made of a file name; bytes of the name that are no UTF-8 become question marks."""
    stem = PurePath(filename).stem.encode("utf-8", "replace").decode()
    return stem.replace("_", " ").strip()[:LONGEST] or "Untitled"
