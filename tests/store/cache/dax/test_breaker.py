from gateway.store.cache.dax.breaker import Breaker, BreakerRules


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def breaker() -> tuple[Breaker, Clock]:
    clock = Clock()
    return Breaker(BreakerRules(failures=3, pause=1, longest_pause=3), clock), clock


def state(made: Breaker) -> str:
    return made.state


def fail(made: Breaker, times: int = 1) -> None:
    for _ in range(times):
        assert made.allows()
        made.failed()


def test_it_opens_after_failures_in_a_row() -> None:
    made, _ = breaker()
    fail(made, 2)
    assert made.allows()
    made.succeeded()
    fail(made, 2)
    assert state(made) == "closed"
    fail(made)
    assert state(made) == "open"
    assert not made.allows()


def test_after_a_pause_one_call_tries_and_the_others_wait() -> None:
    made, clock = breaker()
    fail(made, 3)
    clock.now = 1
    assert [made.allows() for _ in range(3)] == [True, False, False]
    assert state(made) == "trying"
    made.succeeded()
    assert state(made) == "closed"
    assert [made.allows() for _ in range(3)] == [True] * 3


def test_each_failed_trial_doubles_the_pause_up_to_a_limit() -> None:
    made, clock = breaker()
    fail(made, 3)
    for pause in (1, 2, 3, 3):
        clock.now += pause - 0.1
        assert not made.allows()
        clock.now += 0.1
        fail(made)
    assert state(made) == "open"


def test_a_success_forgets_the_longer_pause() -> None:
    made, clock = breaker()
    fail(made, 3)
    clock.now = 1
    fail(made)
    clock.now = 3
    assert made.allows()
    made.succeeded()
    fail(made, 3)
    clock.now = 4
    assert made.allows()


def test_what_was_under_way_when_it_opened_does_not_prolong_the_pause() -> None:
    made, clock = breaker()
    assert all(made.allows() for _ in range(5))
    for _ in range(3):
        made.failed()
    clock.now = 0.9
    made.failed()
    made.failed()
    clock.now = 1
    assert made.allows()


def test_a_trial_that_was_given_up_leaves_the_turn_to_another() -> None:
    made, clock = breaker()
    fail(made, 3)
    clock.now = 1
    assert made.allows()
    made.left()
    assert state(made) == "open"
    assert made.allows()
