"""What several flows ask of one picture."""

from dispatch.models import Dispatch, Job
from dispatch.results.accept import accept
from dispatch.tick import run_tick
from generation import store
from generation.commands import regenerate
from generation.models import Asset
from tests.factories.books import images_of


def ask(book, actor, *stages, **options):
    return regenerate.apply(regenerate.Request(book.pk, stages or ("image",), **options), actor)


def states(book):
    return [asset.state for asset in images_of(book)]


def again(dispatch, actor, hub, stage="image") -> Dispatch:
    """Ask again and return the dispatch that replaced the one given."""
    regenerate.apply(regenerate.Request(dispatch.book_pk, ("image",), rebuild_all=True), actor)
    run_tick(hub)
    return Dispatch.objects.get(status=Dispatch.Status.ACTIVE, stage=stage)


def image() -> Asset:
    return Asset.objects.get(stage="image")


def send(dispatch, files, *, job_id=None, build_id=None, dispatch_id=None):
    return accept(
        dispatch.dispatch_id if dispatch_id is None else dispatch_id,
        job_id or Job.objects.get(dispatch=dispatch).job_id,
        str(dispatch.build_id) if build_id is None else build_id,
        files,
    )


def stored_files() -> list[str]:
    if not store.storage().exists(""):
        return []
    return [name for folder in store.storage().listdir("")[0] for name in store.storage().listdir(folder)[1]]
