"""Regenerate: the only way work comes to be asked for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db.models import F, QuerySet, TextChoices
from django.db.models.functions import Now

from generation import journal
from generation.exceptions import InvalidRequest, LayerDisabled, NotFound
from generation.freshness import Published, is_stale, published_of
from generation.lifecycle import State, sources_of
from generation.models import Asset, Book, Chapter, Command, ForceSet, LayerConfig, Scene, Target, Task
from generation.stages import STAGES, Stage, StageName, stages_named

from .answers import Actor, Asked, answer_once
from .targets import supersede

FORCE_SET_S = 120
BATCH = 2000


class Scope(TextChoices):
    WHOLE_BOOK = "whole_book", "Whole book"
    CHAPTER = "chapter", "Chapter"
    SCENE = "scene", "Scene"
    SELECTION = "selection", "Selected scenes"


@dataclass(frozen=True)
class Request:
    """`stages` empty means all; `ids` are the chapter's, the scene's or the selected scenes' primary keys."""

    book_pk: int
    stages: tuple[str, ...] = ()
    scope: Scope = Scope.WHOLE_BOOK
    ids: tuple[int, ...] = ()
    rebuild_all: bool = False

    def params(self) -> dict[str, Any]:
        return {
            "stages": list(self.stages),
            "scope": self.scope.value,
            "ids": sorted(set(self.ids)),
            "rebuild_all": self.rebuild_all,
        }


@dataclass
class StagePlan:
    """targets + skipped = what was asked, each asset once; skipped is keyed by reason."""

    targets: list[Asset] = field(default_factory=list)
    skipped: dict[str, list[Asset]] = field(default_factory=dict)

    def skip(self, reason: str, asset: Asset) -> None:
        self.skipped.setdefault(reason, []).append(asset)

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


def plan(request: Request) -> Plan:
    """Return what `apply` would do now. Reads only; this is the dry run and the confirmation.

    Raises NotFound, InvalidRequest (also UnknownStage), LayerDisabled when no named stage has its layer on.
    """
    book = Book.objects.filter(pk=request.book_pk).first()
    if book is None:
        raise NotFound(f"There is no book {request.book_pk}.")
    wanted = stages_named(request.stages) if request.stages else list(STAGES.values())
    off = set(LayerConfig.objects.filter(book=book, enabled=False).values_list("stage", flat=True))
    if request.stages and all(stage.name in off for stage in wanted):
        names = ", ".join(stage.name for stage in wanted)
        raise LayerDisabled(f"Layer is off: {names}. Switch it on before you regenerate it.")
    scenes = _scenes(book, request)
    plans: dict[StageName, StagePlan] = {}
    for stage in wanted:
        plans[stage.name] = _plan_stage(stage, scenes, request, is_off=stage.name in off, plans=plans, book=book)
    return Plan(plans)


def apply(request: Request, actor: Actor, key: str | None = None) -> dict[str, Any]:
    """Do it and return the answer of `Plan.answer()` with the ids of the tasks. Raises what `plan` raises."""

    def act(book: Book, command: Command) -> dict[str, Any]:
        planned = plan(request)
        tasks = _write(book, command, planned)
        return {**planned.answer(), "tasks": tasks}

    return answer_once(Asked(Command.Kind.REGENERATE, request.book_pk, request.params()), actor, key, act)


def _scenes(book: Book, request: Request) -> QuerySet[Scene]:
    """Return the scenes asked for; an id that is not one of this book's raises NotFound."""
    scenes = Scene.objects.filter(book=book)
    ids = set(request.ids)
    match request.scope:
        case Scope.WHOLE_BOOK:
            if ids:
                raise InvalidRequest("The scope whole_book takes no ids.")
            return scenes
        case Scope.CHAPTER:
            known = set(Chapter.objects.filter(book=book, pk__in=ids).values_list("pk", flat=True))
            chosen = scenes.filter(chapter__in=known)
        case Scope.SCENE | Scope.SELECTION:
            known = set(scenes.filter(pk__in=ids).values_list("pk", flat=True))
            chosen = scenes.filter(pk__in=known)
    if not ids or (request.scope == Scope.SCENE and len(ids) != 1):
        raise InvalidRequest(f"The scope {request.scope} needs {'one id' if request.scope == Scope.SCENE else 'ids'}.")
    if ids - known:
        raise NotFound(f"This book has no {request.scope} with the id {min(ids - known)}.")
    return chosen


def _plan_stage(
    stage: Stage,
    scenes: QuerySet[Scene],
    request: Request,
    *,
    is_off: bool,
    plans: dict[StageName, StagePlan],
    book: Book,
) -> StagePlan:
    result = StagePlan()
    unrenderable = _scenes_without_needs(stage, scenes, plans, book)
    blocked = _waiting_in_blocked_tasks(book, stage)
    published = published_of(scenes) if stage.needs or stage.waits_for else {}
    assets = Asset.objects.filter(scene__in=scenes, stage=stage.name).select_related("scene", "published")
    for asset in assets.order_by("position"):
        reason = _skip_reason(
            asset, request, is_off=is_off, unrenderable=unrenderable, published=published, blocked=blocked
        )
        if reason:
            result.skip(reason, asset)
        else:
            result.targets.append(asset)
    return result


def _skip_reason(
    asset: Asset,
    request: Request,
    *,
    is_off: bool,
    unrenderable: dict[int, str],
    published: Published,
    blocked: set[int],
) -> str:
    if is_off:
        return "layer_disabled"
    if not any(character.isalnum() for character in asset.scene.text):
        return "nothing_to_render"
    if not request.rebuild_all:
        if asset.published is not None and asset.state == State.READY:
            if not is_stale(asset, asset.published, published):
                return "ready"
        elif _is_queued(asset) and asset.pk not in blocked:
            return "already_queued"
    return unrenderable.get(asset.scene_id, "")


def _waiting_in_blocked_tasks(book: Book, stage: Stage) -> set[int]:
    """Return assets that are queued but cannot start any more without a new command; this may be it."""
    stuck = Target.objects.filter(
        task__book=book, task__stage=stage.name, task__status=Task.Status.BLOCKED, status=Target.Status.OPEN
    )
    return set(stuck.filter(asset__state=State.PENDING).values_list("asset", flat=True))


def _is_queued(asset: Asset) -> bool:
    if asset.state == State.PENDING:
        return True
    made_from = (asset.making_content_version, asset.making_audio_config_version)
    scene = asset.scene
    return asset.state == State.GENERATING and made_from == (scene.content_version, scene.audio_config_version)


def _scenes_without_needs(
    stage: Stage, scenes: QuerySet[Scene], plans: dict[StageName, StagePlan], book: Book
) -> dict[int, str]:
    """Return {scene: reason} for scenes whose needed stage is neither there nor coming, this command included."""
    reasons: dict[int, str] = {}
    for need in stage.needs:
        planned = {asset.scene_id for asset in plans[need].targets} if need in plans else set()
        siblings = Asset.objects.filter(scene__in=scenes, stage=need)
        ready = siblings.filter(state=State.READY)
        queued = siblings.filter(targets__status=Target.Status.OPEN)
        if LayerConfig.objects.filter(book=book, stage=need, enabled=False).exists():
            ready = siblings.filter(published__isnull=False)
        there = planned.union(ready.values_list("scene_id", flat=True), queued.values_list("scene_id", flat=True))
        for scene_pk in scenes.values_list("pk", flat=True):
            if scene_pk not in there:
                reasons.setdefault(scene_pk, f"needs_{need}")
    return reasons


def _write(book: Book, command: Command, planned: Plan) -> list[int]:
    tasks: list[int] = []
    for name, stage_plan in planned.stages.items():
        if not stage_plan.targets:
            continue
        LayerConfig.objects.filter(book=book, stage=name).update(cancelled_at=None, cancelled_by="")
        tasks.append(_write_stage(book, command, STAGES[name], stage_plan.targets))
    if tasks:
        ForceSet.objects.create(command=command, expires_at=Now() + timedelta(seconds=FORCE_SET_S))
    return tasks


def _write_stage(book: Book, command: Command, stage: Stage, assets: Sequence[Asset]) -> int:
    pks = [asset.pk for asset in assets]
    supersede(pks)
    task = Task.objects.create(command=command, book=book, stage=stage.name)
    Asset.objects.filter(pk__in=pks).move(
        sources_of(State.PENDING),
        State.PENDING,
        intent=F("intent") + 1,
        retries_left=stage.retries,
        deferred_until=None,
        deferral_reason="",
        refusal_reason="",
        refusal_count=0,
        failure_reason="",
        failure_message="",
    )
    intents = dict(Asset.objects.filter(pk__in=pks).values_list("pk", "intent"))
    Target.objects.bulk_create([Target(task=task, asset_id=pk, intent=intents[pk]) for pk in pks], batch_size=BATCH)
    journal.record_command(command, book, _changes(assets))
    return task.pk


def _changes(assets: Iterable[Asset]) -> Iterable[tuple[journal.Subject, str]]:
    for asset in assets:
        yield journal.Subject.of(asset), journal.change_text(asset.state, State.PENDING)
