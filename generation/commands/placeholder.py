"""Fill what was never made with marked stand-ins. They never count as ready and never take a real file's place."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Exists, OuterRef

from generation import journal, stand_ins
from generation.bulk import among
from generation.exceptions import InvalidRequest
from generation.lifecycle import State
from generation.models import Asset, Book, Command, Target
from generation.stages import StageName

from .answers import Actor, Asked, answer_once, book_named
from .permissions import OPERATE
from .planning import assets_of, stages_asked
from .scopes import StagesOfScenes, scenes_of

FILLED = (State.NEW, State.DIRTY)
NO_STAND_IN = "no_stand_in"


Request = StagesOfScenes


@dataclass
class Plan:
    """`files` are the assets by the stored name of their stand-in; filled + skipped = what was asked."""

    files: dict[str, list[int]] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)

    def answer(self) -> dict[str, Any]:
        """Return {"filled": n, "skipped": {reason: n}}."""
        return {"filled": sum(len(assets) for assets in self.files.values()), "skipped": dict(self.skipped)}


def plan(request: Request) -> Plan:
    """Return what would be filled. Reads only. Raises NotFound, InvalidRequest."""
    return _plan(book_named(request.book_pk), request)


def apply(request: Request, actor: Actor, key: str | None = None) -> dict[str, Any]:
    """Fill them and return the answer of `Plan.answer()`. Raises what `plan` raises."""
    actor.require((OPERATE,))
    asked = Asked(Command.Kind.PLACEHOLDER, request.book_pk, request.params(), (OPERATE,))
    stored: set[str] = set()

    def act(book: Book, command: Command) -> dict[str, Any]:
        planned = _plan(book, request)
        if planned.files.keys() - stored:
            raise _FilesMissing(planned.files.keys() - stored)
        for name, asset_pks in planned.files.items():
            assets = Asset.objects.filter(among("pk", asset_pks)).order_by()
            journal.record_command(command, book, assets, State.PLACEHOLDER, FILLED)
            assets.move(FILLED, State.PLACEHOLDER, stand_in=name)
        return planned.answer()

    while True:
        try:
            return answer_once(asked, actor, key, act)
        except _FilesMissing as missing:
            # Not under the lock of the book: a storage may be far away.
            for name in missing.names:
                stand_ins.ensure_stored(name)
            stored |= missing.names


class _FilesMissing(Exception):
    """These stand-ins have to be stored before any asset may show them."""

    def __init__(self, names: set[str]) -> None:
        super().__init__()
        self.names = names


def _plan(book: Book, request: Request) -> Plan:
    stages = [stage.name for stage in stages_asked(request.stages)]
    if request.stages and all(stand_ins.name_for(stage, "") is None for stage in stages):
        raise InvalidRequest(f"There is no stand-in for {', '.join(stages)}.")
    scenes = scenes_of(book, request.chosen, stages_asked(request.stages))
    wanted = Exists(Target.objects.filter(asset=OuterRef("pk"), status=Target.Status.OPEN))
    asked = assets_of(book).filter(scene__in=scenes, stage__in=stages).annotate(wanted=wanted).order_by("pk")
    result = Plan()
    for pk, stage, state, published, is_wanted, text in asked.values_list(
        "pk", "stage", "state", "published", "wanted", "scene__text"
    ):
        name = stand_ins.name_for(StageName(stage), text)
        reason = _reason(State(state), has_file=published is not None, is_wanted=is_wanted, has_stand_in=bool(name))
        if reason or name is None:
            result.skipped[reason] += 1
        else:
            result.files.setdefault(name, []).append(pk)
    return result


def _reason(state: State, *, has_file: bool, is_wanted: bool, has_stand_in: bool) -> str:
    if not has_stand_in:
        return NO_STAND_IN
    if state not in FILLED:
        return f"is_{state}"
    if is_wanted:
        return "already_queued"
    return "has_file" if has_file else ""
