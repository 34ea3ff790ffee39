from typing import Any

from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.messages import ERROR
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse

from generation.commands import permissions

# Eighteen digits always fit the key column.
KEY_DIGITS = 18


class ReadOnlyAdmin(admin.ModelAdmin[Any]):
    """Rows that only commands and the tick write: the admin shows them."""

    show_full_result_count = False
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class OperatedAdmin(ReadOnlyAdmin):
    """Rows with commands on them. The command asks for its permission too; these hide what would be refused."""

    named_by_number = True

    def has_operate_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(permissions.OPERATE)

    def has_stop_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(permissions.STOP)

    def has_configure_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(permissions.CONFIGURE)

    def has_export_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("generation.view_artifact")

    def has_delete_rows_permission(self, request: HttpRequest) -> bool:
        """Deleting is a command, not Django's own delete: that would leave work in flight at the hub."""
        return request.user.has_perm(f"generation.delete_{self.opts.model_name}")

    def response_action(  # type: ignore[override] # the stubs describe the signature of a later Django
        self, request: HttpRequest, queryset: QuerySet[Any]
    ) -> HttpResponse | None:
        """Refuse a selection that names no row; stock Django answers it with a server error."""
        for named in request.POST.getlist(ACTION_CHECKBOX_NAME):
            if not self._may_be_a_key(named):
                text = f"The command was not accepted. Nothing was started. {named!r} is no {self.opts.verbose_name}."
                self.message_user(request, text, ERROR)
                return None
        return super().response_action(request, queryset)

    def _may_be_a_key(self, named: str) -> bool:
        if not self.named_by_number:
            return named.isprintable()
        return named.isascii() and named.isdecimal() and len(named) <= KEY_DIGITS
