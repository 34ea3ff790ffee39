"""Subtitles: what is spoken when, as WebVTT."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from textwrap import wrap

LINE_CHARACTERS, LINES = 42, 2
TIMES = re.compile(r"(?:(\d+):)?(\d\d):(\d\d)\.(\d{3})\s+-->\s+(?:(\d+):)?(\d\d):(\d\d)\.(\d{3})")


@dataclass(frozen=True)
class Cue:
    """Text from `start` to `end`, in seconds."""

    text: str
    start: float
    end: float

    def shifted(self, seconds: float) -> "Cue":
        return Cue(self.text, self.start + seconds, self.end + seconds)


def to_vtt(cues: Iterable[Cue]) -> bytes:
    """Return the WebVTT file; a long sentence becomes several cues of two lines, timed by their length."""
    blocks = ["WEBVTT"]
    for cue in cues:
        for part in _readable(cue):
            blocks.append(f"{_stamp(part.start)} --> {_stamp(part.end)}\n{_escaped(part.text)}")
    return ("\n\n".join(blocks) + "\n").encode()


def from_vtt(content: bytes) -> list[Cue]:
    """Read the cues of a file that `to_vtt` wrote, or of any other plain one."""
    cues = []
    for block in re.split(r"\n\s*\n", content.decode("utf-8-sig", "replace").replace("\r\n", "\n")):
        lines = block.strip().split("\n")
        for number, line in enumerate(lines):
            times = TIMES.match(line)
            if times:
                text = _unescaped(" ".join(lines[number + 1 :]))
                cues.append(Cue(text, _seconds(times.groups()[:4]), _seconds(times.groups()[4:])))
                break
    return cues


def _readable(cue: Cue) -> Iterator[Cue]:
    """Split a cue into some of at most two lines."""
    lines = wrap(cue.text, LINE_CHARACTERS) or [cue.text]
    total = sum(map(len, lines))
    start = cue.start
    for first in range(0, len(lines), LINES):
        shown = lines[first : first + LINES]
        end = start + (cue.end - cue.start) * sum(map(len, shown)) / max(1, total)
        yield Cue("\n".join(shown), start, end)
        start = end


def _stamp(seconds: float) -> str:
    milliseconds = round(seconds * 1000)
    minutes, milliseconds = divmod(milliseconds, 60_000)
    return f"{minutes // 60:02}:{minutes % 60:02}:{milliseconds // 1000:02}.{milliseconds % 1000:03}"


def _seconds(groups: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, milliseconds = (int(group or 0) for group in groups)
    return hours * 3600 + minutes * 60 + seconds + milliseconds / 1000


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
