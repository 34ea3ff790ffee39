from django.apps import AppConfig


class EmbeddedConfig(AppConfig):
    name = "animastor_site.embedded"
    label = "embedded"
