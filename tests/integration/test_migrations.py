"""What models declare is in the database that the migrations make."""

import pytest
from django.apps import apps
from django.db import connection

MODELS = [model for label in ("generation", "dispatch") for model in apps.get_app_config(label).get_models()]


@pytest.mark.django_db
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_constraint_and_index_is_there(model):
    """An AlterField may take another's index along: Django finds the one to drop by its columns."""
    with connection.cursor() as cursor:
        there = connection.introspection.get_constraints(cursor, model._meta.db_table)
    declared = {entry.name for entry in (*model._meta.constraints, *model._meta.indexes)}
    assert declared <= there.keys()
