from datetime import timedelta

import pytest

from gateway.model.patterns import Listing
from gateway.model.staleness import Staleness
from tests.model.build import fault, model, on, thing

GOOD = Staleness(60, absence_seconds=5)


@pytest.mark.parametrize(
    ("staleness", "said"),
    [
        (Staleness(0), "`seconds` must be more than 0 and at most 86400"),
        (Staleness(-1), "`seconds` must be more than 0 and at most 86400"),
        (Staleness(86_401), "`seconds` must be more than 0 and at most 86400"),
        (Staleness(60, -1), "`absence_seconds` must be between 0 and `seconds`"),
        (Staleness(60, 61), "`absence_seconds` must be between 0 and `seconds`"),
    ],
)
def test_a_staleness_that_makes_no_sense_is_refused(staleness: Staleness, said: str) -> None:
    assert said in fault(thing(cached=staleness))
    listing = Listing(name="all", entity="Thing", description="All.", cached=staleness)
    assert said in fault(thing(), patterns=(listing,))


def test_what_is_read_consistently_is_never_cached() -> None:
    listing = Listing(name="all", entity="Thing", description="All.", strong=True, cached=GOOD)
    assert "never cached" in fault(thing(), patterns=(listing,))


def test_a_window_is_never_cached() -> None:
    listing = Listing(
        name="all",
        entity="Thing",
        description="All.",
        index="GSI1",
        between="madeAt",
        window=timedelta(days=1),
        cached=GOOD,
    )
    assert "ends at the current time" in fault(thing(indexes=(on(sk="{madeAt}#{thingId}"),)), patterns=(listing,))


def test_what_makes_sense_is_taken() -> None:
    listing = Listing(name="all", entity="Thing", description="All.", cached=GOOD)
    made = model(thing(cached=GOOD), patterns=(listing,))
    assert made.entities["Thing"].cached == GOOD
