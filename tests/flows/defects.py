"""What reconciliation is for: one defect of every kind, made as it would come about."""

import os
import time

from django.core.files.base import ContentFile
from django.db import connection

from dispatch.hubs.base import Envelope, JobRef
from dispatch.models import Dispatch, Job
from dispatch.tick import run_tick
from generation import store
from generation.commands import placeholder
from generation.models import ArtifactFile, Asset
from tests.doubles.pictures import deliver_all, store_picture
from tests.factories.artifacts import publish
from tests.flows.asking import ask


def old(name: str) -> None:
    """Make a stored file two days old."""
    then = time.time() - 2 * 86_400
    os.utime(store.storage().path(name), (then, then))


def published(book, position=1) -> Asset:
    asset = Asset.objects.get(book=book, stage="image", position=position)
    publish(asset)
    return Asset.objects.get(pk=asset.pk)


def file_of(asset) -> str:
    return ArtifactFile.objects.get(artifact=asset.published_id).name


def ghost(book, actor, hub):
    ask(book, actor)
    run_tick(hub)
    Dispatch.objects.update(status="cancelled")
    Job.objects.update(status="dropped")
    hub.jobs.clear()


def orphan_target(book, actor, hub):
    ask(book, actor)
    gone = Asset.objects.filter(book=book, stage="image").first()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM generation_asset WHERE id = %s", [gone.pk])


def lost_file(book, actor, hub):
    store.storage().delete(file_of(published(book)))


def lost_stand_in(book, actor, hub):
    placeholder.apply(placeholder.Request(book.pk, ("image",)), actor)
    store.storage().delete(Asset.objects.filter(state="placeholder").first().stand_in)


def ready_without_rows(book, actor, hub):
    ArtifactFile.objects.filter(artifact=published(book).published_id).delete()


def orphan(book, actor, hub):
    old(store.storage().save("uploads/left", ContentFile(b"x")))


def letter(book, actor, hub):
    ask(book, actor, "image")
    run_tick(hub)
    job = Job.objects.first()
    dispatch = job.dispatch
    files = {role: file.as_json() for role, file in store_picture(dispatch).items()}
    ref = JobRef(dispatch.dispatch_id, job.job_id, "image")
    hub.finished[ref] = {"build_id": str(dispatch.build_id), "files": files}


def zombie(book, actor, hub):
    ask(book, actor)
    run_tick(hub)
    deliver_all()
    dispatch = Dispatch.objects.first()
    ref = JobRef(dispatch.dispatch_id, dispatch.jobs.get().job_id, "image")
    hub.jobs.clear()
    hub.jobs[ref] = Envelope(ref, "iu-1", 600, {})


CAUSES = {
    "running_without_dispatch": ghost,
    "target_without_asset": orphan_target,
    "published_file_missing": lost_file,
    "shown_without_proof": lost_stand_in,
    "file_without_owner": orphan,
    "result_not_delivered": letter,
    "job_of_ended_dispatch": zombie,
}
