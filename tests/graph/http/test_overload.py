"""Goodput in overload, simulated in virtual time: 240 operations a second where 80 can be served, callers wait 1 s.

A request counts as served if its caller was still there when it was done. The old queue collapses in the same runs.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from gateway.graph.http.fair_queue import MAX_WAIT, FairQueue
from gateway.model.tenant import TenantId, tenant_id
from tests.graph.fixtures import MemoryEndpoint
from tests.graph.http.exchange import Exchange
from tests.graph.http.overload import (
    ACME,
    MUTATION,
    OLD_MUTATION,
    QUERY,
    Arrival,
    FirstInFirstOut,
    Kind,
    Outcome,
    bursty,
    constant,
    merged,
    simulate,
)

PLACES, RATE, UNTIL = 4, 240, 10  # at 0.05 s each: 80 a second
SMALL = [tenant_id(f"small-{number}") for number in range(10)]
Arrivals = Callable[..., Iterator[Arrival]]


def fair() -> FairQueue:
    return FairQueue(PLACES)


def old() -> FirstInFirstOut:
    return FirstInFirstOut(PLACES)


def goodput(outcome: Outcome) -> list[float]:
    """By five seconds, as a share of what the places can do."""
    return [outcome.goodput(start, start + 5) / PLACES for start in range(0, UNTIL, 5)]


def work(outcome: Outcome, tenant: TenantId) -> float:
    """Of a tenant that was served, as a share of all that was."""
    total = sum(each.seconds for _, each in outcome.good)
    return sum(each.seconds for _, each in outcome.good if each.tenant == tenant) / total


@pytest.mark.parametrize("arrivals", [constant, bursty])
@pytest.mark.parametrize("kind", [QUERY, MUTATION], ids=["queries", "mutations"])
def test_goodput_stays_near_capacity(arrivals: Arrivals, kind: Kind) -> None:
    outcome = simulate(fair, arrivals(RATE, UNTIL), kind)
    assert min(goodput(outcome)) >= 0.9
    assert outcome.wasted < 0.01 * PLACES * UNTIL
    refused = len(outcome.refused)
    assert refused > 50 * len(outcome.left), "a caller that cannot be served is refused before it gives up"
    waits = sorted(time - each.time for time, each in outcome.refused)
    assert waits[refused // 2] < MAX_WAIT, "and soon"


@pytest.mark.slow
def test_the_old_queue_collapses() -> None:
    assert max(goodput(simulate(old, constant(RATE, UNTIL)))[1:]) < 0.05
    assert max(goodput(simulate(old, bursty(RATE, UNTIL)))) < 0.75
    for arrivals in (constant, bursty):
        assert max(goodput(simulate(old, arrivals(RATE, UNTIL), OLD_MUTATION))[1:]) < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("patience", [0.2, 0.4, 3.0])
@pytest.mark.parametrize("rate", [100, 240, 480])
def test_how_long_callers_wait_need_not_be_known(rate: float, patience: float) -> None:
    """This is why the newest are served first: an age limit alone collapses where callers leave before it."""
    assert min(goodput(simulate(fair, constant(rate, UNTIL, patience=patience)))) >= 0.9


def test_below_capacity_nobody_is_refused_and_few_leave() -> None:
    for rate in (40, 64, 72):
        outcome = simulate(fair, constant(rate, UNTIL))
        assert not outcome.refused
        assert len(outcome.left) < 0.02 * len(outcome.good)


@pytest.mark.slow
def test_the_queue_recovers_as_soon_as_the_load_falls() -> None:
    later = [Arrival(10 + each.time) for each in constant(40, 10)]
    for kind in (QUERY, MUTATION):
        outcome = simulate(fair, merged(constant(RATE, 10), later), kind)
        lost = [each for _, each in outcome.refused if each.time > 11] + [
            each for each in outcome.left if each.time > 11
        ]
        assert not lost
    outcome = simulate(old, merged(constant(RATE, 10), later), OLD_MUTATION)
    assert outcome.goodput(11, 20) == 0, "the old one did not within ten seconds"


@pytest.mark.parametrize(
    ("flood", "small"),
    [((0.5, 24), (0.01, 10)), ((0.01, 600), (0.5, 0.3)), ((0.05, RATE), (0.05, 4))],
    ids=["an expensive flood", "a cheap flood", "all alike"],
)
def test_small_tenants_are_served_beside_one_that_floods(
    flood: tuple[float, float], small: tuple[float, float]
) -> None:
    seconds, rate = flood
    arrivals = merged(
        constant(rate, UNTIL, 99, seconds=seconds),
        *(constant(small[1], UNTIL, seed, seconds=small[0], tenant=tenant) for seed, tenant in enumerate(SMALL)),
    )
    outcome = simulate(fair, arrivals)
    assert outcome.served(*SMALL) >= 0.9
    assert outcome.served(ACME) < 0.5
    assert min(goodput(outcome)) >= 0.85, "and the one that floods has all the rest"


def test_tenants_that_flood_have_equal_shares_of_the_work_though_costs_differ_fiftyfold() -> None:
    other = tenant_id("other")
    arrivals = merged(constant(24, UNTIL, 1, seconds=0.5), constant(600, UNTIL, 2, seconds=0.01, tenant=other))
    outcome = simulate(fair, arrivals)
    assert 0.45 < work(outcome, ACME) < 0.55
    assert min(goodput(outcome)) >= 0.9


@pytest.mark.parametrize("queue", [old, fair])
async def test_both_queues_fit_the_endpoint_as_the_benchmark_needs_them(queue: Callable[[], Any]) -> None:
    exchange = Exchange(
        replace(MemoryEndpoint().endpoint, queue=queue()), {"query": '{ user(userId: "u-1001") { name } }'}
    )
    await exchange.answered
    assert exchange.status == 200
