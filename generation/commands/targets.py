"""Closing targets: what several commands do to work that was asked for before."""

from collections.abc import Iterable, Sequence

from django.db.models import Case, Exists, F, OuterRef, Q, Value, When
from django.db.models.functions import Now

from generation import journal
from generation.lifecycle import COMMANDED, State
from generation.models import Asset, Book, Command, Target, Task
from generation.stages import STAGES


def supersede(asset_pks: Sequence[int]) -> None:
    Target.objects.filter(asset__in=asset_pks, status=Target.Status.OPEN).update(status=Target.Status.SUPERSEDED)


def commanded_assets(book: Book, stages: Iterable[str]) -> list[Asset]:
    """Return the assets of these stages that are queued, generating or targeted: what a stop takes back."""
    open_target = Exists(Target.objects.filter(asset=OuterRef("pk"), status=Target.Status.OPEN))
    assets = Asset.objects.filter(book=book, stage__in=list(stages))
    return list(assets.filter(Q(state__in=COMMANDED) | Q(open_target)).order_by("position", "stage"))


def take_back(command: Command, book: Book, assets: Sequence[Asset], stages: Iterable[str]) -> None:
    """Cancel the live tasks and open targets of these stages; queued and generating assets become dirty.

    The intent rises, which fences every dispatch in flight; the tick clears those at the hub.
    """
    tasks = Task.objects.filter(book=book, stage__in=list(stages), status__in=Task.LIVE)
    pks = [asset.pk for asset in assets]
    Target.objects.filter(task__in=tasks, status=Target.Status.OPEN).update(status=Target.Status.CANCELLED)
    tasks.update(status=Task.Status.CANCELLED, reason=command.kind, closed_at=Now())
    fresh = Case(*(When(stage=stage.name, then=Value(stage.retries)) for stage in STAGES.values()))
    Asset.objects.filter(pk__in=pks).update(
        intent=F("intent") + 1,
        retries_left=fresh,
        deferred_until=None,
        deferral_reason="",
        refusal_reason="",
        refusal_count=0,
    )
    Asset.objects.filter(pk__in=pks).move(COMMANDED, State.DIRTY)
    journal.record_command(command, book, ((journal.Subject.of(asset), _change(asset)) for asset in assets))


def _change(asset: Asset) -> str:
    if asset.state not in COMMANDED:
        return ""
    return journal.change_text(asset.state, State.DIRTY)
