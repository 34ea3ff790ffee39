"""Results that are there: real files in the storage, with their rows."""

from generation import store
from generation.lifecycle import State
from generation.models import Artifact, ArtifactFile, Asset
from tests.doubles.pictures import webp


def add_version(asset: Asset, version: int, files: tuple[tuple[str, str, bytes], ...] = ()) -> Artifact:
    """Store a version of the asset; `files` are (role, content type, content), one small picture by default."""
    artifact = Artifact.objects.create(
        asset=asset,
        version=version,
        dispatch_id=f"{asset.pk:016d}{version:016d}",
        content_version=1,
        audio_config_version=1,
    )
    for role, content_type, content in files or (("main", "image/webp", webp()),):
        file = store.save(asset.pk, artifact.dispatch_id, "iu-1", role, content_type, content)
        ArtifactFile.objects.create(artifact=artifact, **file.as_json())
    return artifact


def publish(asset: Asset, *files: tuple[str, str, bytes]) -> Artifact:
    """Store the first version of the asset and make it what is shown."""
    artifact = add_version(asset, 1, files)
    Asset.objects.filter(pk=asset.pk).update(state=State.READY, published=artifact)
    return artifact
