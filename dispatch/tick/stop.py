"""Step 2: what may not exist ends, and the hub is told until it confirms."""

from django.db.models import F, Q
from django.db.models.functions import Now

from dispatch.config import config
from dispatch.models import Dispatch, Job
from dispatch.results.outcomes import Cancelled
from generation import gate
from generation.models import Asset, Target

from .boundaries import Boundary, reach
from .context import Run


def stop(run: Run) -> None:
    for dispatch_id, asset_pk, superseded in _unwanted():
        run.finalise(dispatch_id, Cancelled("superseded" if superseded else "may_not_exist"))
        if asset_pk is not None and superseded and _use_force(run, asset_pk):
            run.replaced.add(asset_pk)
    reach(Boundary.STOPPED)
    _clear(run)
    reach(Boundary.CLEARED)


def _unwanted() -> list[tuple[str, int | None, bool]]:
    """Return (dispatch_id, asset, whether a newer intent stands in its place) of dispatches to end."""
    active = Dispatch.objects.filter(status=Dispatch.Status.ACTIVE)
    forbidden = Asset.objects.filter(~gate.may_exist(), pk__in=active.values("asset"))
    superseded = ~Q(intent=F("asset__intent"))
    unwanted = active.filter(Q(asset__isnull=True) | superseded | Q(asset__in=forbidden)).select_related("asset")
    return [
        (
            dispatch.dispatch_id,
            dispatch.asset_id,
            dispatch.asset is not None and dispatch.asset.intent != dispatch.intent,
        )
        for dispatch in unwanted
    ]


def _use_force(run: Run, asset_pk: int) -> bool:
    """Use the pair's force, once, while its set lives; the slot then passes on in this tick."""
    forced = Target.objects.filter(
        asset=asset_pk,
        status=Target.Status.OPEN,
        force_used_at__isnull=True,
        task__command__force_set__expires_at__gt=Now(),
    )
    with run.lease.transaction():
        return bool(Target.objects.filter(pk__in=forced.values("pk")).update(force_used_at=Now()))


def _clear(run: Run) -> None:
    """Tell the hub about every stopping job, whoever made it so; a hub that is away delays nothing else."""
    stopping = Job.objects.filter(status=Job.Status.STOPPING).annotate(
        given_up=Q(stopping_since__lt=Now() - config().clear_for)
    )
    jobs = list(stopping.values_list("pk", "dispatch__dispatch_id", "given_up"))
    to_clear = {dispatch_id for _, dispatch_id, given_up in jobs if not given_up}
    cleared = run.hub.clear(to_clear).cleared if to_clear else frozenset()
    ended = [pk for pk, dispatch_id, given_up in jobs if given_up or dispatch_id in cleared]
    if ended:
        with run.lease.transaction():
            Job.objects.filter(pk__in=ended).move(Job.Status.STOPPING, Job.Status.DROPPED)
