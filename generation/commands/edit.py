"""Edit a scene's text, or voices: versions rise and ready assets are compared. It marks, it never starts anything."""

import re
from dataclasses import dataclass
from typing import Any

from django.db.models import F, Q

from generation import journal
from generation.exceptions import InvalidRequest, NotFound
from generation.freshness import SPOKEN
from generation.models import Asset, Book, Command, Scene
from generation.models.books import words_in

from .answers import PK_LIMIT, Actor, Asked, answer_once, book_named, require_storable
from .permissions import EDIT
from .planning import assets_of
from .scopes import Chosen, Scope, scenes_of

TEXT_MAX = 200_000
VOICE = re.compile(r"[a-z0-9][a-z0-9_.-]{0,39}")
SPEED_LEAST, SPEED_MOST = 50, 200


@dataclass(frozen=True)
class TextRequest:
    """Lines end with a line feed, whatever the browser sends."""

    scene_pk: int
    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", self.text.replace("\r\n", "\n").replace("\r", "\n"))


@dataclass(frozen=True)
class VoicesRequest:
    """`voice` empty is the one of the book's language; `speed_percent` 50 to 200."""

    book_pk: int
    voice: str = ""
    speed_percent: int = 100
    scope: Scope = Scope.WHOLE_BOOK
    ids: tuple[int, ...] = ()

    def params(self) -> dict[str, Any]:
        chosen = Chosen(self.scope, self.ids).params()
        return {"voice": self.voice, "speed_percent": self.speed_percent, **chosen}


@dataclass(frozen=True)
class Plan:
    scenes: int
    ready: int

    def answer(self) -> dict[str, Any]:
        """Return {"scenes": scenes that change, "ready": their ready assets, which become out of date}."""
        return {"scenes": self.scenes, "ready": self.ready}


def plan_text(request: TextRequest) -> Plan:
    """Return what the edit would do. Reads only. Raises NotFound; InvalidRequest for a text that cannot be one."""
    _require_text(request.text)
    return _plan(*_changed_text(_scene(request.scene_pk), request))


def apply_text(request: TextRequest, actor: Actor, key: str | None = None) -> dict[str, Any]:
    """Replace the text and return the answer of `Plan.answer()`. Raises what `plan_text` raises."""
    _require_text(request.text)

    def act(book: Book, command: Command) -> dict[str, Any]:
        scenes, assets = _changed_text(_scene(request.scene_pk), request)
        answer = _plan(scenes, assets).answer()
        journal.record_command(command, book, Asset.objects.filter(pk__in=assets.values("pk")).order_by())
        scenes.update(
            text=request.text,
            has_words=words_in(request.text),
            content_version=F("content_version") + 1,
            recheck=True,
        )
        return answer

    params = {"scene": request.scene_pk, "text": request.text}
    asked = Asked(Command.Kind.EDIT_TEXT, None, params, (EDIT,), lambda: _scene(request.scene_pk).book_id)
    return answer_once(asked, actor, key, act)


def plan_voices(request: VoicesRequest) -> Plan:
    """Return what the edit would do. Reads only. Raises NotFound, InvalidRequest."""
    _require_voice(request)
    return _plan(*_changed_voices(book_named(request.book_pk), request))


def apply_voices(request: VoicesRequest, actor: Actor, key: str | None = None) -> dict[str, Any]:
    """Set the voices and return the answer of `Plan.answer()`. Raises what `plan_voices` raises."""
    _require_voice(request)

    def act(book: Book, command: Command) -> dict[str, Any]:
        scenes, assets = _changed_voices(book, request)
        answer = _plan(scenes, assets).answer()
        journal.record_command(command, book, assets.order_by())
        scenes.update(
            voice=request.voice,
            speed_percent=request.speed_percent,
            audio_config_version=F("audio_config_version") + 1,
            recheck=True,
        )
        return answer

    asked = Asked(Command.Kind.EDIT_VOICES, request.book_pk, request.params(), (EDIT,))
    return answer_once(asked, actor, key, act)


def _scene(pk: int) -> Scene:
    scene = Scene.objects.filter(pk=pk).first() if 0 < pk < PK_LIMIT else None
    if scene is None:
        raise NotFound(f"There is no scene {pk}.")
    return scene


def _changed_text(scene: Scene, request: TextRequest) -> tuple[Any, Any]:
    scenes = Scene.objects.filter(pk=scene.pk).exclude(text=request.text)
    return scenes, Asset.objects.filter(scene__in=scenes)


def _changed_voices(book: Book, request: VoicesRequest) -> tuple[Any, Any]:
    as_asked = Q(voice=request.voice, speed_percent=request.speed_percent)
    chosen = scenes_of(book, Chosen(request.scope, request.ids), [])
    scenes = chosen.exclude(as_asked)
    return scenes, assets_of(book).filter(scene__in=scenes, stage__in=SPOKEN)


def _plan(scenes: Any, assets: Any) -> Plan:
    return Plan(scenes.count(), assets.filter(state="ready").count())


def _require_text(text: str) -> None:
    if not text.strip():
        raise InvalidRequest("The text is empty. Delete the scene instead.")
    require_storable("text", text, TEXT_MAX)


def _require_voice(request: VoicesRequest) -> None:
    if request.scope == Scope.NEXT_WINDOW:
        raise InvalidRequest("Voices are not set for a window.")
    if request.voice and not VOICE.fullmatch(request.voice):
        raise InvalidRequest(f"{request.voice!r} is no name of a voice.")
    if not SPEED_LEAST <= request.speed_percent <= SPEED_MOST:
        raise InvalidRequest(f"The speed is {request.speed_percent} %; {SPEED_LEAST} to {SPEED_MOST} is possible.")
