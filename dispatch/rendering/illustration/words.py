"""What a scene's words say about its picture: a mood and a motif, by English and Russian word stems."""

import re
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar


class Mood(StrEnum):
    DAY = "day"
    DAWN = "dawn"
    DUSK = "dusk"
    NIGHT = "night"
    STORM = "storm"
    WINTER = "winter"
    FIRE = "fire"


class Motif(StrEnum):
    HILLS = "hills"
    SEA = "sea"
    FOREST = "forest"
    TOWN = "town"
    MOUNTAINS = "mountains"
    ROOM = "room"


@dataclass(frozen=True)
class Look:
    mood: Mood
    motif: Motif


MOOD_STEMS: dict[Mood, tuple[str, ...]] = {
    Mood.DAWN: ("dawn", "sunris", "morning", "daybreak", "рассвет", "утр", "заря", "зари", "зарей"),
    Mood.DUSK: ("dusk", "sunset", "evening", "twiligh", "autumn", "закат", "вечер", "сумер", "осен"),
    Mood.NIGHT: (
        "night",
        "midnigh",
        "moon",
        "star",
        "dark",
        "dream",
        "sleep",
        "ноч",
        "лун",
        "звезд",
        "звёзд",
        "темн",
        "сон",
    ),
    Mood.STORM: (
        "storm",
        "gale",
        "thunder",
        "lightning",
        "tempest",
        "rain",
        "howl",
        "буря",
        "бури",
        "гроз",
        "гром",
        "дожд",
        "шторм",
    ),
    Mood.WINTER: (
        "winter",
        "snow",
        "frost",
        "ice",
        "icy",
        "froz",
        "зим",
        "снег",
        "снеж",
        "мороз",
        "лед",
        "лёд",
        "метел",
    ),
    Mood.FIRE: (
        "fire",
        "flame",
        "burn",
        "blaze",
        "lamp",
        "candle",
        "lantern",
        "огон",
        "огн",
        "пожар",
        "плам",
        "ламп",
        "свеч",
    ),
    Mood.DAY: ("day", "noon", "sun", "bright", "summer", "spring", "день", "дня", "солнц", "лето", "летн", "весн"),
}
MOTIF_STEMS: dict[Motif, tuple[str, ...]] = {
    Motif.SEA: (
        "sea",
        "ocean",
        "ship",
        "wave",
        "sail",
        "whale",
        "harbor",
        "harbour",
        "shore",
        "boat",
        "mariner",
        "helm",
        "pacific",
        "port",
        "mast",
        "мор",
        "океан",
        "корабл",
        "волн",
        "парус",
        "кит",
        "берег",
        "лодк",
        "матрос",
    ),
    Motif.FOREST: (
        "forest",
        "wood",
        "tree",
        "grove",
        "pine",
        "oak",
        "leaf",
        "leav",
        "лес",
        "дерев",
        "роща",
        "сосн",
        "дуб",
        "берез",
        "берёз",
    ),
    Motif.TOWN: (
        "town",
        "city",
        "street",
        "house",
        "roof",
        "square",
        "church",
        "inn",
        "market",
        "город",
        "улиц",
        "дом",
        "крыш",
        "площад",
        "церк",
        "трактир",
        "петербург",
        "москв",
    ),
    Motif.MOUNTAINS: ("mountain", "peak", "cliff", "rock", "summit", "valley", "гор", "скал", "вершин", "ущель"),
    Motif.ROOM: (
        "room",
        "chamber",
        "door",
        "window",
        "bed",
        "table",
        "chair",
        "cabin",
        "forecastle",
        "комнат",
        "двер",
        "окн",
        "кроват",
        "стол",
        "кресл",
        "кают",
    ),
    Motif.HILLS: ("field", "hill", "meadow", "grass", "road", "farm", "пол", "холм", "луг", "трав", "дорог", "степ"),
}
Kind = TypeVar("Kind", bound=StrEnum)
# Short stems name other things inside longer words; they count as whole words or plain inflections only.
SHORT_STEM = 4
INFLECTION_MAX = 3


def look_of(text: str) -> Look:
    """Return the mood and motif that most words speak for; a clear day over hills when none does."""
    words = Counter(re.findall(r"[^\W\d_]+", text.lower()))
    return Look(_strongest(words, MOOD_STEMS, Mood.DAY), _strongest(words, MOTIF_STEMS, Motif.HILLS))


def _strongest(words: Counter[str], stems: dict[Kind, tuple[str, ...]], neutral: Kind) -> Kind:
    scores = {kind: sum(_matches(words, stem) for stem in kinds) for kind, kinds in stems.items()}
    best = max(scores, key=lambda kind: scores[kind])
    return best if scores[best] else neutral


def _matches(words: Counter[str], stem: str) -> int:
    most = len(stem) + INFLECTION_MAX if len(stem) <= SHORT_STEM else 99
    return sum(number for word, number in words.items() if word.startswith(stem) and len(word) <= most)
