import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [
        ("generation", "0007_engine"),
    ]

    operations = [
        # Django drops the field's index by its columns, and would take this constraint's along.
        migrations.RemoveConstraint(model_name="target", name="target_open_once_per_asset"),
        migrations.AlterField(
            model_name="target",
            name="asset",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="targets",
                to="generation.asset",
            ),
        ),
        migrations.AddConstraint(
            model_name="target",
            constraint=models.UniqueConstraint(
                condition=Q(status="open"), fields=("asset",), name="target_open_once_per_asset"
            ),
        ),
    ]
