"""What a page of a listing takes: a Query on each shard, and on each time bucket until the page is full."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from graphql import FieldNode

from gateway.graph.arguments import Value, Variables, argument_value
from gateway.graph.cost import Each
from gateway.graph.reader import ReadLimits
from gateway.model.keys import MAX_BUCKETS
from gateway.model.model import Model
from gateway.model.patterns import Listing
from gateway.model.units import query_units
from gateway.store.table import PARALLEL_GROUPS
from gateway.store.window import LAST_HOURS

_HOUR = timedelta(hours=1)
_SIZES = {"hour": _HOUR, "day": 24 * _HOUR, "month": 28 * 24 * _HOUR}


@dataclass(frozen=True, slots=True)
class Pages:
    """`probed` tells that `pageInfo` is asked for, which may read one item beyond each end that a cursor gives."""

    model: Model
    listing: Listing
    limits: ReadLimits
    probed: bool


def page_price(pages: Pages, node: FieldNode) -> Each:
    first, last, after, before = (argument_value(node, name) for name in ("first", "last", "after", "before"))
    limits, traffic, strong = pages.limits, pages.listing.traffic, pages.listing.strong
    place = pages.model.place(pages.listing)
    shards = place.shards.read if place.shards is not None else 1
    buckets = _buckets(pages, node)
    empty = query_units(1, traffic.item_bytes, strong=strong)

    def each(variables: Variables) -> tuple[float, float]:
        count = _size(first(variables), last(variables), limits)
        full = query_units(count + 1, traffic.item_bytes, strong=strong)
        spread = buckets(variables)
        # so many buckets are read ahead, each as if the whole page lay in it; further ones only while it is not full
        ahead = min(spread, PARALLEL_GROUPS)
        units = shards * (ahead * full + (spread - ahead) * empty)
        if pages.probed:
            ends = (after(variables) is not None) + (before(variables) is not None)
            units += ends * shards * ahead * empty
        return units, count

    return each


def _size(first: Any, last: Any, limits: ReadLimits) -> int:
    """What is no number, or too large, is refused when it runs."""
    given = first if isinstance(first, int) else last
    return min(max(given, 0), limits.page) if isinstance(given, int) else limits.default_page


def _buckets(pages: Pages, node: FieldNode) -> Callable[[Variables], int]:
    listing, bucket = pages.listing, pages.model.place(pages.listing).bucket
    if bucket is None:
        return lambda _: 1
    span, hours = argument_value(node, listing.between or ""), argument_value(node, LAST_HOURS)
    size, window = _SIZES[bucket.size], listing.window or _HOUR

    def count(variables: Variables) -> int:
        length = _length(span, hours, window, variables)
        return min(int(length / size) + 2, MAX_BUCKETS)

    return count


def _length(span: Value, hours: Value, window: timedelta, variables: Variables) -> timedelta:
    last_hours, given = hours(variables), span(variables)
    try:
        if isinstance(last_hours, int):
            return max(last_hours, 0) * _HOUR
        if isinstance(given, dict) and isinstance(given.get("from"), str):
            start = datetime.fromisoformat(given["from"])
            end = (
                datetime.fromisoformat(given["to"]) if isinstance(given.get("to"), str) else datetime.now(start.tzinfo)
            )
            return max(end - start, timedelta())
    except (ValueError, TypeError, OverflowError):
        pass  # refused when it runs
    return window
