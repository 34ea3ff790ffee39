"""Names of files that every file system takes."""

import unicodedata

LONGEST = 60
# Devices of Windows.
RESERVED = {"CON", "PRN", "AUX", "NUL", *(f"{device}{number}" for device in ("COM", "LPT") for number in range(1, 10))}
PUNCTUATION = " -_.,'()"


def safe_name(text: str, otherwise: str) -> str:
    """Return the text as part of a file name; letters of every script stay. `otherwise` when nothing is left."""
    kept = (
        character if character.isalnum() or unicodedata.combining(character) or character in PUNCTUATION else "_"
        for character in unicodedata.normalize("NFC", text)
    )
    # A name must not begin like a hidden file, and Windows loses points and blanks at the end.
    name = "".join(kept)[:LONGEST].strip(" .") or otherwise
    return f"{name}_" if name.partition(".")[0].upper() in RESERVED else name
