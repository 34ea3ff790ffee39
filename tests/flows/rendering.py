"""Work that is rendered by the real renderers as soon as it is handed over; only the processes are left out."""

import pytest
from django.db import connection

from dispatch import worker
from dispatch.models import Dispatch
from dispatch.results.assemble import assemble
from dispatch.tick import run_tick
from generation import store
from generation.models import ArtifactFile, Asset, Target


@pytest.fixture(autouse=True)
def draft(settings) -> None:
    settings.ANIMASTOR = {"video_profile": "draft"}


def render_now(envelope) -> None:
    """Render inside the submit call, in the thread of the hub."""
    worker.render(envelope.ref.dispatch_id, envelope.ref.job_id)
    connection.close()


@pytest.fixture
def work(hub):
    """Return a function that ticks until nothing is left to do; what is submitted is rendered at once."""
    hub.on_submit = render_now

    def until_done() -> None:
        for _ in range(12):
            Asset.objects.update(deferred_until=None)
            run_tick(hub)
            for dispatch in Dispatch.objects.filter(status="active", assembling_at__isnull=False):
                assemble(dispatch.dispatch_id)
            if not Target.objects.filter(status="open").exists():
                return
        raise AssertionError(list(Asset.objects.values_list("stage", "state", "failure_message")))

    return until_done


def asset_of(book, stage, position=1) -> Asset:
    return book.assets.select_related("published").get(stage=stage, position=position)


def files_of(asset) -> dict[str, bytes]:
    files = ArtifactFile.objects.filter(artifact=asset.published)
    return {file.role: store.open_file(file.name).read() for file in files}
