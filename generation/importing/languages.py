"""Which language a text is to be read in: the book's, unless its script says otherwise, then by detection."""

import unicodedata
from collections import Counter

# Detection needs some text to be right.
DETECTABLE_CHARACTERS = 200
DEFAULT = "en"

# Script, by the first word of a character's Unicode name → the languages that are written in it, most likely first.
SCRIPTS: dict[str, tuple[str, ...]] = {
    "LATIN": ("en", "de", "fr", "es", "it", "pt", "nl", "pl", "cs", "sv", "da", "fi", "hu", "ro", "tr", "la", "vi"),
    "CYRILLIC": ("ru", "uk", "bg", "be", "sr", "mk", "kk"),
    "GREEK": ("el",),
    "ARABIC": ("ar", "fa", "ur"),
    "HEBREW": ("he",),
    "CJK": ("zh", "ja"),
    "HIRAGANA": ("ja",),
    "KATAKANA": ("ja",),
    "HANGUL": ("ko",),
    "DEVANAGARI": ("hi", "mr", "ne"),
    "BENGALI": ("bn",),
    "TAMIL": ("ta",),
    "THAI": ("th",),
    "ARMENIAN": ("hy",),
    "GEORGIAN": ("ka",),
    "ETHIOPIC": ("am",),
}
KANA = {"HIRAGANA", "KATAKANA"}


def language_of(text: str, book_language: str) -> str:
    """Return the ISO 639-1 code to read `text` in.

    The book's language counts when the text is written in its script: a voice spells foreign letters one by one.
    """
    declared = book_language.split("-")[0].lower()
    script = dominant_script(text)
    written = SCRIPTS.get(script, ())
    if declared and (declared in written or not written or _is_unlisted(declared, script)):
        return declared
    if len(written) == 1:
        return written[0]
    if len(text) >= DETECTABLE_CHARACTERS:
        return _detected(text, written)
    return written[0] if written else DEFAULT


def dominant_script(text: str) -> str:
    """Return the script most letters are of; text with kana is Japanese, however many Han signs it has."""
    counted: Counter[str] = Counter()
    for character in text:
        if character.isalpha():
            counted[unicodedata.name(character, "UNKNOWN").split()[0].split("-")[0]] += 1
    if not counted:
        return "LATIN" if any(map(str.isalnum, text)) else "UNKNOWN"
    if KANA & counted.keys() and counted.most_common(1)[0][0] in {"CJK", *KANA}:
        return "HIRAGANA"
    return counted.most_common(1)[0][0]


def _is_unlisted(language: str, script: str) -> bool:
    """True of a language no script above names, for a text in the script most languages use."""
    return script == "LATIN" and not any(language in languages for languages in SCRIPTS.values())


def _detected(text: str, candidates: tuple[str, ...]) -> str:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # a second and 40 MB: only for a book that does not say

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE)
    known = [code for code in candidates if code in identifier.labels]
    if known:
        identifier.set_languages(known)
    language, _ = identifier.classify(text[:4000])
    return str(language)
