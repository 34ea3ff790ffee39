"""Which of the assets asked for become targets, and why the others do not."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Case, CharField, Exists, F, OuterRef, Q, Value, When

from generation import freshness, gate
from generation.bulk import among
from generation.exceptions import LayerDisabled
from generation.lifecycle import State
from generation.models import Asset, Book, LayerConfig, Target, Task
from generation.querysets import AssetQuerySet
from generation.stages import STAGES, Stage, StageName, stages_named

LAYER_DISABLED = "layer_disabled"
NOTHING_TO_RENDER = "nothing_to_render"
READY = "ready"
ALREADY_QUEUED = "already_queued"


@dataclass
class StagePlan:
    """Primary keys of assets: targets + skipped = what was asked, each once; skipped is keyed by reason."""

    targets: list[int] = field(default_factory=list)
    skipped: dict[str, list[int]] = field(default_factory=dict)

    def skip(self, reason: str, asset_pk: int) -> None:
        self.skipped.setdefault(reason, []).append(asset_pk)

    def counts(self) -> dict[str, Any]:
        return {
            "targets": len(self.targets),
            "skipped": {reason: len(assets) for reason, assets in self.skipped.items()},
        }


@dataclass(frozen=True)
class Plan:
    stages: dict[StageName, StagePlan]

    def answer(self) -> dict[str, Any]:
        """Return {"stages": {stage: {"targets": n, "skipped": {reason: n}}}, "targets": n}."""
        return {
            "stages": {name.value: plan.counts() for name, plan in self.stages.items()},
            "targets": sum(len(plan.targets) for plan in self.stages.values()),
        }


def stages_asked(names: Iterable[str]) -> list[Stage]:
    """Return the stages named, all when none is. Raises UnknownStage."""
    wanted = list(names)
    return stages_named(wanted) if wanted else list(STAGES.values())


def plan_stages(book: Book, names: tuple[str, ...], asked: AssetQuerySet, *, rebuild_all: bool) -> Plan:
    """Sort the assets of `asked` that belong to the named stages into targets and skipped. Reads only.

    Raises UnknownStage, and LayerDisabled when stages were named and every one's layer is off.
    """
    wanted = stages_asked(names)
    off = set(LayerConfig.objects.filter(book=book, enabled=False).values_list("stage", flat=True))
    if names and all(stage.name in off for stage in wanted):
        layers = ", ".join(stage.name for stage in wanted)
        raise LayerDisabled(f"Layer is off: {layers}. Switch it on before you regenerate it.")
    coming: dict[StageName, set[int]] = {}
    plans: dict[StageName, StagePlan] = {}
    for stage in wanted:
        of_stage = asked.filter(stage=stage.name)
        plans[stage.name], coming[stage.name] = _plan_stage(
            stage, of_stage, coming, is_off=stage.name in off, rebuild_all=rebuild_all
        )
    return Plan(plans)


def _plan_stage(
    stage: Stage, assets: AssetQuerySet, coming: dict[StageName, set[int]], *, is_off: bool, rebuild_all: bool
) -> tuple[StagePlan, set[int]]:
    """Return the stage's plan, and the scenes it will be made for by this command."""
    result, scenes = StagePlan(), set()
    rows = assets.annotate(verdict=_verdict(stage, is_off=is_off, rebuild_all=rebuild_all))
    found = list(rows.order_by("position", "pk").values_list("pk", "scene_id", "verdict"))
    lacking = _lacking(stage, {pk: scene for pk, scene, verdict in found if not verdict}, coming)
    for asset_pk, scene_pk, verdict in found:
        reason = verdict or lacking.get(asset_pk)
        if reason:
            result.skip(reason, asset_pk)
        else:
            result.targets.append(asset_pk)
            scenes.add(scene_pk)
    return result, scenes


def _verdict(stage: Stage, *, is_off: bool, rebuild_all: bool) -> Case | Value:
    if is_off:
        return Value(LAYER_DISABLED)
    reasons = [When(scene__has_words=False, then=Value(NOTHING_TO_RENDER))]
    if not rebuild_all:
        reasons.append(When(Q(state=State.READY) & ~freshness.stale(), then=Value(READY)))
        reasons.append(When(_is_queued(stage), then=Value(ALREADY_QUEUED)))
    return Case(*reasons, default=Value(""), output_field=CharField())


def _is_queued(stage: Stage) -> Q:
    """True of an asset on its way for the current versions. One in a blocked task is not: this may be its retry."""
    stuck = Exists(
        Target.objects.filter(
            asset=OuterRef("pk"), task__stage=stage.name, task__status=Task.Status.BLOCKED, status=Target.Status.OPEN
        )
    )
    made_from_current = Q(state=State.GENERATING, making_content_version=F("scene__content_version"))
    if stage.name in freshness.SPOKEN:
        made_from_current &= Q(making_audio_config_version=F("scene__audio_config_version"))
    return made_from_current | (Q(state=State.PENDING) & ~Q(stuck))


def _lacking(stage: Stage, scenes: dict[int, int], coming: dict[StageName, set[int]]) -> dict[int, str]:
    """Return {asset: reason} of those that are made from what is not there, and what this command does not make."""
    reasons: dict[int, str] = {}
    for need in stage.needs:
        made = coming.get(need, set())
        in_doubt = [pk for pk, scene in scenes.items() if scene not in made]
        if in_doubt:
            lacks = Asset.objects.filter(among("pk", in_doubt), Q(gate.missing(need)))
            reasons = dict.fromkeys(lacks.order_by().values_list("pk", flat=True), f"needs_{need}") | reasons
    return reasons


def assets_of(book: Book) -> AssetQuerySet:
    return Asset.objects.filter(book=book)
