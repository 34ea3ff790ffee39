"""Statements over any number of rows. A book has tens of thousands of assets, and a command answers in two seconds."""

from collections.abc import Iterable
from typing import Any

from django.db import connection
from django.db.models import SET_NULL, BooleanField, F, Field, Func, Model, QuerySet, Value
from django.db.models.functions import Now

PREFIX = "insert_"


def among(field: str, keys: Iterable[int]) -> Func:
    """Return the condition that `field` is one of `keys`, sent as one text; `__in` sends a parameter per key."""
    return Func(
        F(field),
        # Written here: the driver would adapt 30 000 numbers one by one, in every statement that names them.
        Value(f"{{{','.join(map(str, keys))}}}"),
        template="%(expressions)s::bigint[])",
        arg_joiner=" = ANY(",
        output_field=BooleanField(),
    )


def insert_from(model: type[Model], rows: QuerySet[Any], **columns: Any) -> int:
    """Insert one row of `model` per row of `rows` in one statement; return how many.

    `columns` are the fields with expressions over `rows`, or values; fields without one get their default.
    """
    values = {field: _expression(field, columns) for field in model._meta.concrete_fields if not _is_computed(field)}
    annotations = {f"{PREFIX}{field.name}": value for field, value in values.items()}
    select, params = rows.annotate(**annotations).values_list(*annotations).query.sql_with_params()
    names = ", ".join(f'"{field.column}"' for field in values)
    return _execute(f'INSERT INTO "{model._meta.db_table}" ({names}) {select}', params)


def delete_rows(rows: QuerySet[Any]) -> int:
    """Delete the rows in one statement, and set to NULL what points at them and may; return how many.

    What would cascade must be gone before: the database refuses the transaction otherwise, except for targets, which it
    does not check.
    """
    model = rows.model
    for relation in model._meta.related_objects:
        if relation.on_delete is SET_NULL:
            pointing = relation.related_model._base_manager.filter(**{f"{relation.field.name}__in": rows})
            pointing.update(**{relation.field.name: None})
    select, params = rows.order_by().values_list("pk").query.sql_with_params()
    table, key = model._meta.db_table, model._meta.pk.column
    # Names come from the models, values are parameters.
    return _execute(f'DELETE FROM "{table}" WHERE "{key}" IN ({select})', params)  # noqa: S608


def _execute(statement: str, params: Any) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        return int(cursor.rowcount)


def _expression(field: "Field[Any, Any]", columns: dict[str, Any]) -> Any:
    if field.name in columns:
        given = columns[field.name]
        return given if hasattr(given, "resolve_expression") else Value(given, output_field=field)
    if getattr(field, "auto_now_add", False):
        return Now()
    return Value(field.get_default(), output_field=field)


def _is_computed(field: "Field[Any, Any]") -> bool:
    return bool(field.generated or (field.primary_key and field.db_returning))
