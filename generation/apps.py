from django.apps import AppConfig


class GenerationConfig(AppConfig):
    name = "generation"
    verbose_name = "Books and what should exist"

    def ready(self) -> None:
        from .commands import auto_next

        auto_next.listen()
