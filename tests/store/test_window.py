"""The window of a listing over time."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.errors import BadUserInput
from gateway.store.plan import Range, windowed

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
READINGS = MODEL.listing("readings")


@pytest.mark.parametrize(
    ("given", "first", "last"),
    [
        ({}, NOW - DAY, NOW),
        ({"recordedAt": None}, NOW - DAY, NOW),
        ({"recordedAt": Range()}, NOW - DAY, NOW),
        ({"lastHours": 3}, NOW - timedelta(hours=3), NOW),
        ({"lastHours": 3, "recordedAt": Range()}, NOW - timedelta(hours=3), NOW),
        ({"recordedAt": Range(first=NOW - 3 * DAY)}, NOW - 3 * DAY, NOW),
        ({"recordedAt": Range(first=NOW + DAY)}, NOW + DAY, NOW + DAY),
        ({"recordedAt": Range(last=NOW - 3 * DAY)}, NOW - 4 * DAY, NOW - 3 * DAY),
        ({"recordedAt": Range(NOW - 9 * DAY, NOW - 8 * DAY)}, NOW - 9 * DAY, NOW - 8 * DAY),
    ],
)
def test_an_open_end_is_filled_in(given: dict[str, Any], first: datetime, last: datetime) -> None:
    found = windowed(READINGS, {"deviceId": "d", **given}, NOW)
    assert (found["deviceId"], found["recordedAt"]) == ("d", Range(first, last))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"lastHours": 1, "recordedAt": Range(first=NOW)}, "give either `lastHours` or `recordedAt`, not both"),
        ({"lastHours": 0}, "`lastHours` must be between 1 and 960"),
        ({"lastHours": 2**31 - 1}, "`lastHours` must be between 1 and 960"),
        (
            {"recordedAt": Range(last=datetime(1, 1, 1, 5, tzinfo=UTC))},
            "the range of `recordedAt` starts before the year 1",
        ),
    ],
)
def test_a_window_that_makes_no_sense_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(BadUserInput) as caught:
        windowed(READINGS, given, NOW)
    assert caught.value.message == words


def test_a_listing_without_a_window_reads_what_it_is_asked() -> None:
    given = {"userId": "u"}
    assert windowed(MODEL.listing("ordersOfUser"), given, NOW) is given
