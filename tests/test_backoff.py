"""Pauses between attempts."""

from gateway.backoff import exponential, full_jitter


def test_a_pause_doubles_up_to_its_cap() -> None:
    assert [exponential(attempt, 0.5, 3) for attempt in range(5)] == [0.5, 1, 2, 3, 3]


def test_many_attempts_stay_at_the_cap() -> None:
    assert exponential(100_000, 0.025, 5) == 5


def test_full_jitter_takes_any_part_of_the_pause() -> None:
    shares = iter((0.0, 0.25, 1.0))
    assert [full_jitter(2, 0.5, 3, lambda: next(shares)) for _ in range(3)] == [0, 0.5, 2]
    assert all(0 <= full_jitter(4, 0.5, 3) <= 3 for _ in range(100))
