"""Pictures, sound and film as the admin shows them: nothing loads before somebody asks for it."""

from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from generation.lifecycle import State
from generation.models import ArtifactFile, Asset
from generation.roles import SUBTITLES, picture_roles
from generation.stages import StageName


def player(asset: Asset) -> SafeString | str:
    """Return what shows the published result of the asset, or its stand-in.

    The asset comes with `published`, its files, and `scene.pictures`: the picture of a scene is its video's poster.
    """
    if asset.state == State.PLACEHOLDER:
        return _shown(asset, reverse("stand-in-file", args=[asset.pk]), {}, "")
    files = _files(asset)
    if ArtifactFile.MAIN not in files:
        return "–"
    address = reverse("artifact-file", args=[files[ArtifactFile.MAIN].pk])
    return format_html("{} {}", _shown(asset, address, files, _poster(asset)), _downloads(files))


def _shown(asset: Asset, address: str, files: dict[str, ArtifactFile], poster: str) -> SafeString:
    label = f"{asset.get_stage_display()} of {asset.scene}"
    match StageName(asset.stage):
        case StageName.IMAGE:
            others = [files[role] for role in picture_roles(files)[1:]]
            addresses = [address, *(reverse("artifact-file", args=[file.pk]) for file in others)]
            return format_html_join(
                " ",
                '<a href="{}"><img src="{}" alt="{}" width="160" height="90" loading="lazy"></a>',
                ((one, one, label) for one in addresses),
            )
        case StageName.AUDIO:
            return format_html('<audio controls preload="none" src="{}" aria-label="{}"></audio>', address, label)
        case StageName.VIDEO:
            return format_html(
                '<video controls preload="none" width="288" height="162" src="{}" aria-label="{}"{}>{}</video>',
                address,
                label,
                format_html(' poster="{}"', poster) if poster else "",
                _track(asset, files),
            )


def _track(asset: Asset, files: dict[str, ArtifactFile]) -> SafeString | str:
    if SUBTITLES not in files:
        return ""
    return format_html(
        '<track kind="captions" default label="Subtitles" srclang="{}" src="{}">',
        asset.scene.book.language or "und",
        reverse("artifact-file", args=[files[SUBTITLES].pk]),
    )


def _downloads(files: dict[str, ArtifactFile]) -> SafeString:
    main = files[ArtifactFile.MAIN]
    length = f", {main.duration_ms / 1000:.1f} s" if main.duration_ms else ""
    return format_html(
        '<a href="{}?download">Download</a> ({} kB{})',
        reverse("artifact-file", args=[main.pk]),
        max(1, main.size // 1000),
        length,
    )


def _files(asset: Asset) -> dict[str, ArtifactFile]:
    return {file.role: file for file in asset.published.files.all()} if asset.published else {}


def _poster(asset: Asset) -> str:
    if asset.stage != StageName.VIDEO:
        return ""
    for picture in getattr(asset.scene, "pictures", []):
        main = _files(picture).get(ArtifactFile.MAIN)
        if main:
            return reverse("artifact-file", args=[main.pk])
    return ""
