import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rq.timeouts import JobTimeoutException

import dispatch.rendering.illustration  # noqa: F401 - defines errors of its own
from dispatch.failures import (
    CAUSES,
    EXCEPTIONS,
    MESSAGES,
    BadOutput,
    FailureType,
    RenderError,
    failure_from,
    failure_of,
)


def subclasses(kind):
    return {kind, *(deeper for direct in kind.__subclasses__() for deeper in subclasses(direct))}


def test_every_exception_message_and_render_error_leads_to_a_cause():
    reasons = {reason for _, reason in (*EXCEPTIONS, *MESSAGES)} | {error.reason for error in subclasses(RenderError)}
    assert reasons <= set(CAUSES)


@pytest.mark.parametrize(
    ("error", "reason", "kind"),
    [
        (MemoryError(), "out_of_memory", FailureType.INFRASTRUCTURE),
        (ConnectionResetError("gone"), "connection_lost", FailureType.INFRASTRUCTURE),
        (TimeoutError(), "timed_out", FailureType.TRANSIENT),
        (PermissionError("no"), "storage_failed", FailureType.INFRASTRUCTURE),
        (JobTimeoutException("1800 s"), "worker_timeout", FailureType.INFRASTRUCTURE),
        (subprocess.TimeoutExpired("voice", 30), "timed_out", FailureType.TRANSIENT),
        (KeyError("scene"), "bad_envelope", FailureType.ORCHESTRATION),
        (ValueError("odd"), "render_failed", FailureType.TRANSIENT),
    ],
)
def test_an_exception_is_classified_on_purpose(error, reason, kind):
    failure = failure_of(error)
    assert (failure.reason, failure.type) == (reason, kind)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Download failed: 404", "artifact_gone"),
        ("could not fetch /a.png: status 410", "artifact_gone"),
        ("Download failed: 500", "render_failed"),
        ("HTTP 404: download failed", "artifact_gone"),
        ("Download failed:\n404 Not Found", "artifact_gone"),
        ("Request for frame 410 failed: connection reset by peer", "connection_lost"),
        ("request 404 of 1000: out of memory", "out_of_memory"),
        ("CUDA out of memory. Tried to allocate 2 GiB", "out_of_memory"),
        ("[Errno 28] No space left on device", "storage_failed"),
        ("connection refused by peer", "connection_lost"),
        ("the worker reported a timeout", "worker_timeout"),
        ("request timed out", "timed_out"),
        ("Nothing to speak", "nothing_to_render"),
        ("scene 404 is odd", "render_failed"),
        ("", "render_failed"),
    ],
)
def test_a_message_is_classified_by_its_class(text, reason):
    assert failure_from("", text).reason == reason


@given(st.text(max_size=3000), st.text(max_size=3000))
def test_any_text_is_a_failure_that_can_be_stored(reason, message):
    failure = failure_from(reason, message)
    assert failure.reason in CAUSES
    assert (len(failure.reason) <= 40, len(failure.message) <= 500, "\x00" in failure.message) == (True, True, False)
    failure.message.encode()


def test_a_reason_that_is_known_needs_no_message():
    assert failure_from("orphaned_task").type == FailureType.INFRASTRUCTURE


def test_time_that_runs_out_inside_a_decoder_is_told_as_such():
    try:
        try:
            raise JobTimeoutException("180 s")
        except Exception as error:
            raise BadOutput("The picture does not decode") from error
    except BadOutput as wrapped:
        assert failure_of(wrapped).reason == "worker_timeout"
    assert failure_of(BadOutput("The picture does not decode")).reason == "bad_output"
