"""Whether a published artifact is still what its scene would give now."""

from collections.abc import Mapping

from django.db.models import QuerySet

from .models import Artifact, Asset, Scene
from .stages import StageName

# Stages that are made from the voices' configuration as well as from the text.
SPOKEN = {StageName.AUDIO, StageName.VIDEO}

# (scene, stage) → the artifact published there, if any.
Published = Mapping[tuple[int, str], int | None]


def published_of(scenes: QuerySet[Scene]) -> Published:
    """Return what every asset of the scenes has published."""
    rows = Asset.objects.filter(scene__in=scenes).values_list("scene", "stage", "published")
    return {(scene, stage): published for scene, stage, published in rows}


def is_stale(asset: Asset, artifact: Artifact, published: Published) -> bool:
    """True when the artifact is made from older versions, or from an artifact that is no longer the published one."""
    scene = asset.scene
    if artifact.content_version != scene.content_version:
        return True
    if asset.stage in SPOKEN and artifact.audio_config_version != scene.audio_config_version:
        return True
    return any(published.get((asset.scene_id, stage)) != pk for stage, pk in artifact.inputs.items())
