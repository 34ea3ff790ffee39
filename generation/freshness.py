"""Whether a published artifact is still what its scene would give now, as an expression over Asset rows."""

from django.db.models import BigIntegerField, Exists, F, OuterRef, Q
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from .models import Asset, LayerConfig
from .stages import STAGES, StageName

# Stages that are made from the voices' configuration as well as from the text.
SPOKEN = (StageName.AUDIO, StageName.VIDEO)


def stale() -> Q:
    """True of an asset that has published what is made from older versions of its scene, or from an artifact that is
    no longer the published one, or that is older itself: a film with yesterday's narration is not today's.
    """
    made_from_another = Q(pk__in=[])
    for stage in STAGES.values():
        for other in (*stage.needs, *stage.waits_for):
            made_from_another |= Q(stage=stage.name) & _made_from_another(other)
    return Q(published__isnull=False) & (_older() | made_from_another)


def _older() -> Q:
    older_voices = Q(stage__in=SPOKEN) & ~Q(published__audio_config_version=F("scene__audio_config_version"))
    return ~Q(published__content_version=F("scene__content_version")) | older_voices


def _made_from_another(stage: StageName) -> Q:
    used = Cast(KeyTextTransform(stage.value, OuterRef("published__inputs")), BigIntegerField())
    shown = Asset.objects.filter(scene=OuterRef("scene"), stage=stage, published=used)
    # Who switches a layer off says that what it made last is good enough.
    off = LayerConfig.objects.filter(book=OuterRef("book"), stage=stage, enabled=False)
    good = Exists(shown.filter(Q(Exists(off)) | ~_older()))
    return Q(published__inputs__has_key=stage.value) & ~Q(good)
