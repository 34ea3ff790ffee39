"""What explain answers with."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Reason:
    """`reason` is stable, for programs; `words` say what, `remedy` what would change it; `numbers` are JSON."""

    reason: str
    words: str
    remedy: str
    numbers: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        return {"reason": self.reason, "words": self.words, "remedy": self.remedy, "numbers": self.numbers}


def moment(value: Any) -> str | None:
    return value.isoformat() if value else None
