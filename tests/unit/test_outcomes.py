from hypothesis import given
from hypothesis import strategies as st

from dispatch.outcomes import DEFERRABLE, OUTCOMES, Bucket, outcome_named, verdict

REASONS = st.sampled_from(sorted(OUTCOMES)) | st.text(max_size=20)


def test_every_reason_has_words_for_the_operator():
    assert all(outcome.words.endswith(".") and outcome.reason == reason for reason, outcome in OUTCOMES.items())


@given(st.text(max_size=60).filter(lambda word: word not in OUTCOMES))
def test_a_word_that_nobody_knows_is_tried_again_and_bounded(word):
    assert outcome_named(word).bucket == Bucket.NEXT_TICK


@given(st.lists(REASONS, min_size=1, max_size=8))
def test_one_real_failure_among_many_deferrals_counts(reasons):
    result = verdict(reasons)
    named = [outcome_named(reason) for reason in reasons]
    real = [outcome for outcome in named if outcome.bucket not in DEFERRABLE]
    if real:
        assert result == real[0]
    else:
        most = max(named.count(outcome) for outcome in named)
        assert result == next(outcome for outcome in named if named.count(outcome) == most)


@given(st.text(max_size=60))
def test_any_word_has_a_reason_that_can_be_stored(word):
    reason = outcome_named(word).reason
    assert reason
    assert "\x00" not in reason
    assert len(reason.encode().decode()) <= 40


def test_a_dispatch_without_any_job_says_so():
    assert verdict([]).reason == "no_jobs_sent"
