"""The registry of stages. Everything that differs between audio, image and video is declared here.

The numbers are those of the table "Admission"; quota and job timeout can be changed per stage or layer, the rest
follows from what a render of the stage costs.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import models

from .exceptions import UnknownStage


class StageName(models.TextChoices):
    AUDIO = "audio", "Audio"
    IMAGE = "image", "Image"
    VIDEO = "video", "Video"


@dataclass(frozen=True)
class Stage:
    """What one stage is: `needs` must be there before it starts, `waits_for` only while it is still coming."""

    name: StageName
    noun: str  # what an operator calls one asset of the stage
    quota: int  # running assets at once, cluster-wide; the default of StageConfig.quota
    retries: int  # automatic retries per intent
    job_timeout_s: int
    stall_s: int  # no progress for this long ends a dispatch
    lease_ttl_s: int
    file_types: frozenset[str]  # content types a result may have
    part_types: frozenset[str] = frozenset()  # content types that parts may have besides
    needs: tuple[StageName, ...] = ()
    waits_for: tuple[StageName, ...] = ()

    @property
    def renewed_ttl_s(self) -> int:
        """A renewed lease outlives a dead tick by 180 s."""
        return self.lease_ttl_s + 180


STAGES: dict[StageName, Stage] = {
    stage.name: stage
    for stage in (
        Stage(
            name=StageName.AUDIO,
            noun="narration",
            quota=8,
            retries=10,
            job_timeout_s=1800,
            stall_s=1800,
            lease_ttl_s=1860,
            file_types=frozenset({"audio/mpeg"}),
            part_types=frozenset({"audio/flac"}),
        ),
        Stage(
            name=StageName.IMAGE,
            noun="picture",
            quota=4,
            retries=10,
            job_timeout_s=1800,
            stall_s=1800,
            lease_ttl_s=1200,
            file_types=frozenset({"image/webp", "image/png", "image/jpeg"}),
        ),
        Stage(
            name=StageName.VIDEO,
            noun="video",
            quota=2,
            retries=5,
            job_timeout_s=3600,
            stall_s=3600,
            lease_ttl_s=1800,
            file_types=frozenset({"video/mp4"}),
            needs=(StageName.IMAGE,),
            waits_for=(StageName.AUDIO,),
        ),
    )
}


def stage_named(name: str) -> Stage:
    """Return the stage called `name`; raises UnknownStage, which lists the known ones."""
    if name not in StageName.values:
        raise UnknownStage(f"There is no stage {name!r}. Stages are {', '.join(StageName.values)}.")
    return STAGES[StageName(name)]


def stages_named(names: Iterable[str]) -> list[Stage]:
    """Return the stages called `names` in registry order, each once."""
    wanted = {stage_named(name).name for name in names}
    return [stage for stage in STAGES.values() if stage.name in wanted]


def others_made_from(name: str) -> bool:
    """True when another stage is made from what this one publishes."""
    return any(name in (*stage.needs, *stage.waits_for) for stage in STAGES.values())
