"""The window of a listing over time: the range that is read where the caller leaves one or both ends open."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from gateway.errors import BadUserInput
from gateway.model.patterns import Listing
from gateway.store.plan import Range

LAST_HOURS = "lastHours"
_MOST_HOURS = 960  # 40 days; time buckets are read up to 1,000 at once


def windowed(listing: Listing, arguments: Mapping[str, Any], now: datetime) -> Mapping[str, Any]:
    """The arguments with both ends of the range.

    A cursor is bound to what the caller gave, not to this: so the next page has the same arguments although time has
    passed, and its position says where to read on.
    """
    if listing.window is None or listing.between is None:
        return arguments
    span, hours = arguments.get(listing.between) or Range(), arguments.get(LAST_HOURS)
    length = listing.window
    if hours is not None:
        if span != Range():
            raise BadUserInput(f"give either `{LAST_HOURS}` or `{listing.between}`, not both")
        if not 1 <= hours <= _MOST_HOURS:
            raise BadUserInput(f"`{LAST_HOURS}` lies between 1 and {_MOST_HOURS}")
        length = timedelta(hours=hours)
    last = span.last if span.last is not None else max(now, span.first or now)
    try:
        first = span.first if span.first is not None else last - length
    except OverflowError as error:
        raise BadUserInput(f"the range of `{listing.between}` starts before the year 1") from error
    return {**arguments, listing.between: Range(first, last)}
