"""What is tried again, after which pause, and until when."""

from math import inf

import pytest

from gateway.aws.wire.errors import (
    AnswerLate,
    AwsFailure,
    AwsUnavailable,
    ConnectionBroken,
    InvalidRequest,
    Retry,
    SignatureRejected,
    ThroughputExceeded,
)
from gateway.aws.wire.retry import Budget, Retries, RetryRules

RULES = RetryRules(attempts=4, pause=0.1, throttled_pause=1.0, longest_pause=3.0, budget=500)


def retries(budget: Budget | None = None, jitter: float = 1.0, rules: RetryRules = RULES) -> Retries:
    return Retries(rules, budget or Budget(500), jitter=lambda: jitter)


def failed(wait: float = 0.0) -> AwsUnavailable:
    return AwsUnavailable("failed", said=AwsFailure(wait=wait), retry=Retry.TRANSIENT)


def throttled() -> ThroughputExceeded:
    return ThroughputExceeded("throttled", retry=Retry.THROTTLED)


def stale() -> ConnectionBroken:
    error = ConnectionBroken("broken", retry=Retry.TRANSIENT)
    error.stale = True
    return error


def test_pauses_double_until_the_attempts_are_used_up() -> None:
    call = retries()
    assert [call.pause(failed(), inf) for _ in range(4)] == [
        pytest.approx(0.1),
        pytest.approx(0.2),
        pytest.approx(0.4),
        None,
    ]


def test_throttling_pauses_longer_but_not_endlessly() -> None:
    call = retries()
    assert [call.pause(throttled(), inf) for _ in range(4)] == [1.0, 2.0, 3.0, None]


def test_a_pause_is_anything_between_nothing_and_its_limit() -> None:
    assert retries(jitter=0.0).pause(throttled(), inf) == 0.0
    assert retries(jitter=0.25).pause(throttled(), inf) == 0.25


def test_a_pause_that_aws_asks_for_is_kept_within_reason() -> None:
    assert retries(jitter=0.0).pause(failed(wait=2.0), inf) == 2.0
    assert retries(jitter=0.0).pause(failed(wait=3600.0), inf) == 5.0


def test_what_cannot_succeed_is_not_tried_again() -> None:
    assert retries().pause(InvalidRequest("invalid"), inf) is None


def test_a_retry_never_begins_after_the_deadline() -> None:
    budget = Budget(500)
    call = retries(budget)
    assert call.pause(failed(), remaining=0.1) is None
    assert call.pause(stale(), remaining=0.0) is None
    assert budget.tokens == 500
    assert call.pause(failed(), remaining=0.11) == 0.1


def test_the_budget_is_shared_and_timeouts_cost_more() -> None:
    budget = Budget(20)
    assert retries(budget).pause(AnswerLate("late", retry=Retry.TIMEOUT), inf) is not None
    assert budget.tokens == 10
    assert retries(budget).pause(failed(), inf) is not None
    assert retries(budget).pause(throttled(), inf) is not None
    assert retries(budget).pause(failed(), inf) is None
    assert budget.tokens == 0


def test_a_success_puts_back_what_its_retry_took_or_a_little() -> None:
    budget = Budget(20)
    call = retries(budget)
    call.pause(AnswerLate("late", retry=Retry.TIMEOUT), inf)
    budget.refund(0)
    assert budget.tokens == 11
    budget.refund(call.spent)
    assert budget.tokens == 20


def test_a_stale_connection_is_replaced_once_for_nothing_and_then_counts() -> None:
    budget = Budget(500)
    call = retries(budget)
    assert call.pause(stale(), inf) == 0.0
    assert budget.tokens == 500
    assert [call.pause(stale(), inf) for _ in range(4)] == [
        pytest.approx(0.1),
        pytest.approx(0.2),
        pytest.approx(0.4),
        None,
    ]


def test_a_corrected_clock_gets_one_more_attempt() -> None:
    call = retries()
    skewed = SignatureRejected("skewed", retry=Retry.SKEWED)
    assert call.pause(skewed, inf) == 0.0
    assert call.pause(skewed, inf) is None


def test_an_error_shows_how_many_attempts_there_were() -> None:
    call = retries()
    call.pause(throttled(), inf)
    last = InvalidRequest("invalid")
    call.pause(last, inf)
    assert last.attempts == 2


@pytest.mark.parametrize(
    ("first", "uncertain"),
    [(failed(), True), (AnswerLate("late", retry=Retry.TIMEOUT), True), (stale(), True), (throttled(), False)],
)
def test_an_error_after_an_attempt_without_an_answer_is_uncertain(first: AwsUnavailable, uncertain: bool) -> None:
    call = retries()
    assert call.pause(first, inf) is not None
    last = InvalidRequest("invalid")
    call.pause(last, inf)
    assert not first.uncertain
    assert last.uncertain is uncertain
