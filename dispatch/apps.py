from django.apps import AppConfig


class DispatchConfig(AppConfig):
    name = "dispatch"
    verbose_name = "Dispatch"

    def ready(self) -> None:
        from . import checks, ring, vetoes

        checks.register_checks()
        ring.listen()
        vetoes.listen()
