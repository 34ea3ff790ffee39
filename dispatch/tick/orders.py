"""What prepare writes for one asset: a dispatch with its inputs frozen, and a job for every unit still to be made."""

from typing import Any

from django.db.models.functions import Now

from dispatch.envelopes import digest_of, envelope_of, fingerprint_of
from dispatch.hubs.job_ids import job_id as wire_job_id
from dispatch.models import Dispatch, Job
from dispatch.rendering.registry import units_of, workflow_version
from dispatch.results import parts
from generation.models import ArtifactFile, Asset, ImageUnit
from generation.stages import STAGES, StageName


def write_dispatch(asset: Asset, dispatch_id: str, hub: str, timeout_s: int) -> Dispatch:
    """Write the dispatch and its reserved jobs; `asset` comes with scene, chapter and book, locked.

    Units whose parts are kept need no job. When none needs one, the dispatch begins with the joining.
    """
    scene, stage = asset.scene, StageName(asset.stage)
    dispatch = Dispatch(
        dispatch_id=dispatch_id,
        asset=asset,
        book=asset.book,
        book_key=asset.book.key,
        book_pk=asset.book_id,
        chapter_pk=scene.chapter_id,
        scene_pk=scene.pk,
        asset_pk=asset.pk,
        stage=stage,
        build_id=asset.book.build_id,
        hub=hub,
        intent=asset.intent,
        content_version=scene.content_version,
        audio_config_version=scene.audio_config_version,
        inputs=_inputs(asset),
        workflow_version=workflow_version(stage),
    )
    jobs = _jobs(dispatch, asset, timeout_s)
    dispatch.units = [[job.unit, fingerprint_of(job.envelope)] for job in jobs]
    kept = _kept(dispatch)
    dispatch.save()
    missing = [job for job in jobs if job.unit not in kept]
    Job.objects.bulk_create(missing)
    if not missing:
        Dispatch.objects.filter(pk=dispatch.pk).update(assembling_at=Now())
    if len(jobs) > 1:
        done = 100 * len(kept) // len(jobs)
        Asset.objects.filter(pk=asset.pk).update(parts_total=len(jobs), parts_done=len(kept), progress_percent=done)
    return dispatch


def _jobs(dispatch: Dispatch, asset: Asset, timeout_s: int) -> list[Job]:
    files = _files_of(dispatch.inputs)
    jobs = []
    units = units_of(StageName(asset.stage), asset.scene_id, asset.scene.text, _prompts(asset))
    for order, unit in enumerate(units, start=1):
        name = wire_job_id(asset.stage, dispatch.book_pk, dispatch.chapter_pk, dispatch.scene_pk, unit.name)
        body = envelope_of(dispatch, asset, unit, name, files)
        jobs.append(
            Job(
                dispatch=dispatch,
                asset_pk=asset.pk,
                unit=unit.name,
                order=order,
                job_id=name,
                envelope=body,
                digest=digest_of(body),
                timeout_s=timeout_s,
            )
        )
    return jobs


def _prompts(asset: Asset) -> dict[int, str]:
    """Return the pictures the scene asks for, in order."""
    if asset.stage != StageName.IMAGE:
        return {}
    return dict(ImageUnit.objects.filter(scene=asset.scene_id).order_by("number").values_list("pk", "prompt"))


def _kept(dispatch: Dispatch) -> set[str]:
    """Return the units whose parts are there; what is made in one piece is never kept in parts."""
    if len(dispatch.units) == 1:
        return set()
    return {unit for unit, _ in parts.present(dispatch.asset_pk, [(unit, key) for unit, key in dispatch.units])}


def _inputs(asset: Asset) -> dict[str, int]:
    """Return {stage: artifact} of what the scene's needed and awaited stages have published."""
    stage = STAGES[StageName(asset.stage)]
    others = [*stage.needs, *stage.waits_for]
    if not others:
        return {}
    siblings = Asset.objects.filter(scene=asset.scene_id, stage__in=others, published__isnull=False)
    return {name: pk for name, pk in siblings.values_list("stage", "published") if pk is not None}


def _files_of(inputs: dict[str, int]) -> dict[str, dict[str, Any]]:
    """Return {stage: {role: stored name}} of the files of these artifacts."""
    stages = {pk: stage for stage, pk in inputs.items()}
    files: dict[str, dict[str, Any]] = {stage: {} for stage in inputs}
    for pk, role, name in ArtifactFile.objects.filter(artifact__in=stages).values_list("artifact", "role", "name"):
        files[stages[pk]][role] = name
    return files
