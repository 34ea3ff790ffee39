"""Assets: what is published, and why the rest is not."""

from typing import Any

from django.contrib import admin
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from dispatch.explain import explain
from generation import words
from generation.admin import players
from generation.admin.readonly import ReadOnlyAdmin
from generation.models import Asset
from generation.stages import StageName


@admin.register(Asset)
class AssetAdmin(ReadOnlyAdmin):
    list_display = ("scene", "stage", "progress", "result", "why", "changed_at")
    list_filter = ("stage", "state", "book")
    list_select_related = ("scene__chapter", "scene__book")
    search_fields = ("scene__text", "book__title")
    readonly_fields = ("result", "explained")
    exclude = ("published",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        siblings = Asset.objects.filter(stage=StageName.IMAGE).select_related("published")
        return (
            super()
            .get_queryset(request)
            .select_related("published")
            .prefetch_related(
                "published__files", Prefetch("scene__assets", siblings, "pictures"), "scene__pictures__published__files"
            )
        )

    @admin.display(description="state", ordering="state")
    def progress(self, asset: Asset) -> str:
        return words.progress(asset)

    @admin.display(description="why")
    def why(self, asset: Asset) -> str:
        return words.why(asset)

    @admin.display(description="published")
    def result(self, asset: Asset) -> SafeString | str:
        return players.player(asset)

    @admin.display(description="why it does not run")
    def explained(self, asset: Asset) -> SafeString | str:
        """Every check in order; the first is the one that counts now."""
        told = [(reason.words, reason.remedy) for reason in explain(asset)]
        return format_html_join("", "<p>{} {}</p>", told) if told else "–"
