"""The clock follows AWS when it has reason to."""

import time

from gateway.aws.clock import Clock


def test_a_clock_moves_to_the_time_of_aws() -> None:
    clock = Clock()
    assert clock.correct(time.time() + 3600, signed_with=0.0)
    assert abs(clock.now() - time.time() - 3600) < 60


def test_a_small_difference_is_no_reason() -> None:
    clock = Clock()
    assert not clock.correct(time.time() + 5, signed_with=0.0)
    assert clock.offset == 0.0


def test_an_answer_without_a_date_is_no_reason() -> None:
    assert not Clock().correct(None, signed_with=0.0)


def test_a_request_signed_before_another_call_corrected_the_clock_is_worth_another_attempt() -> None:
    clock = Clock()
    clock.offset = 3600.0
    assert clock.correct(time.time() + 3600, signed_with=0.0)
    assert clock.offset == 3600.0
