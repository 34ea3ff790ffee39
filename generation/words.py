"""Answers of commands, told to people. One line, for the terminal and the admin alike."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from generation.lifecycle import State
from generation.models import Asset

from .stages import STAGES, StageName

Answer = Mapping[str, Any]


def amount(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def opening(text: str, most: int) -> str:
    """Return how a text begins, cut between words."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most].rpartition(' ')[0] or line[:most]} …"


def of_stage(stage: str, number: int) -> str:
    """Return for example "3 pictures"."""
    return amount(number, STAGES[StageName(stage)].noun)


def queued(answer: Answer) -> str:
    """Tell what a regenerate or a retry queues, and what it leaves out."""
    told = "; ".join(filter(None, (_queued_stage(stage, numbers) for stage, numbers in answer["stages"].items())))
    if any(numbers["targets"] for numbers in answer["stages"].values()):
        return told
    return f"nothing to do ({told})" if told else "nothing to do"


def _queued_stage(stage: str, numbers: Answer) -> str:
    parts = [f"{of_stage(stage, numbers['targets'])} queued"] if numbers["targets"] else []
    parts += [f"{number} {reason.replace('_', ' ')}" for reason, number in numbers["skipped"].items()]
    return f"{stage}: {', '.join(parts)}" if parts else ""


def imported(answer: Answer) -> str:
    """Tell what came of an import, or would; "2 chapters, 9 scenes" of a new book."""
    text = f"{amount(answer['chapters'], 'chapter')}, {amount(answer['scenes'], 'scene')}"
    if answer["new"] == answer["scenes"] and not answer["deleted"]:
        return text
    return (
        f"{text} ({answer['kept']} kept, {answer['changed']} changed, {answer['new']} new), {answer['deleted']} deleted"
    )


def exported(answer: Answer) -> str:
    told = [amount(answer["files"], "file"), f"{answer['bytes'] / 1_000_000:.1f} MB"]
    told += [f"{number} {stage} missing" for stage, number in answer["missing"].items()]
    told += [f"{number} {stage} out of date" for stage, number in answer["out_of_date"].items() if number]
    return ", ".join(told)


def taken_back(answer: Answer) -> str:
    text = f"{answer['queued']} queued leave the queue, {answer['generating']} running are abandoned"
    return f"{text}; the task was {answer['was']}" if "was" in answer else text


def paused(answer: Answer) -> str:
    waits = f"{amount(answer['queued'], 'asset')} queued there"
    return waits if answer["changes"] else f"{waits}; nothing changes"


def switched(answer: Answer) -> str:
    text = "changes" if answer["changes"] else "nothing changes"
    return f"{text}, {answer['taken_back']} taken back" if answer.get("taken_back") else text


def limited(answer: Answer) -> str:
    if not answer["changes"]:
        return "nothing changes"
    was, becomes = ("the stage's own" if value is None else value for value in (answer["was"], answer["becomes"]))
    return f"{was} becomes {becomes}"


def circuit_reset(answer: Answer) -> str:
    return "its circuit is closed by the next tick"


def edited(answer: Answer) -> str:
    return f"{amount(answer['scenes'], 'scene')} changed, {answer['ready']} ready become out of date"


def deleted(answer: Answer) -> str:
    return (
        f"{amount(answer['scenes'], 'scene')} with {amount(answer['files'], 'published file')} deleted, "
        f"{answer['generating']} running abandoned"
    )


def restored(answer: Answer) -> str:
    replaces = f", in place of version {answer['replaces']}" if answer["replaces"] else ""
    return f"version {answer['version']} published{replaces}"


def filled(answer: Answer) -> str:
    skipped = "".join(f", {number} {reason.replace('_', ' ')}" for reason, number in answer["skipped"].items())
    return f"{amount(answer['filled'], 'placeholder')} put in{skipped}"


def moved(answer: Answer) -> str:
    skipped = "".join(f", {number} {reason.replace('_', ' ')}" for reason, number in answer["skipped"].items())
    return f"{answer['moved']} moved to the front{skipped}"


def progress(asset: Asset) -> str:
    """Return the state, while it is generating with how far it is."""
    if asset.state != State.GENERATING:
        return asset.get_state_display()
    if asset.parts_total > 1 and asset.parts_done == asset.parts_total:
        return f"Joining {asset.parts_total} parts"
    part = f", {asset.parts_done} of {asset.parts_total} parts" if asset.parts_total > 1 else ""
    return f"Generating {asset.progress_percent} %{part}"


def why(asset: Asset) -> str:
    """Return what keeps the asset from being made, as far as its own row tells."""
    if asset.state == State.FAILED:
        return asset.failure_message or asset.failure_reason.replace("_", " ")
    if asset.state == State.PENDING and asset.deferred_until and asset.deferred_until > timezone.now():
        return f"{asset.deferral_reason.replace('_', ' ')}, waits until {asset.deferred_until:%H:%M:%S}"
    return "–"
