"""Formats keys, types and patterns for the documentation."""

from collections.abc import Iterable
from datetime import timedelta

from gateway.model.entity import Expiry, Placement
from gateway.model.patterns import Listing, Traffic
from gateway.model.template import BUCKET, SHARD, Hole, Segment
from gateway.model.types import KEY_SEPARATOR

TENANT = "T#"


def markdown_table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    lines = [head, tuple("---" for _ in head), *rows]
    return [f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |" for line in lines]


def code(text: str) -> str:
    return f"`{text}`"


def partition_words(place: Placement) -> str:
    """For example `T#STATUS#<status>#<shard 0..3>`."""
    return TENANT + KEY_SEPARATOR.join(_segment(place, segment) for segment in place.pk.segments)


def sort_words(place: Placement) -> str:
    return KEY_SEPARATOR.join(_segment(place, segment) for segment in place.sk.segments)


def _segment(place: Placement, segment: Segment) -> str:
    if isinstance(segment, Hole) and segment.name == SHARD and place.shards is not None:
        return f"<shard 0..{place.shards.read - 1}>"
    if isinstance(segment, Hole) and segment.name == BUCKET and place.bucket is not None:
        return f"<{place.bucket.size} of {place.bucket.of}>"
    if isinstance(segment, Hole) and segment.width:
        return f"<{segment.name}, {segment.width} digits{f' and {segment.scale} decimals' if segment.scale else ''}>"
    return str(segment)


def range_words(place: Placement, listing: Listing) -> str:
    """The condition on the sort key."""
    if len(listing.where) == len(place.sk.holes):
        return f"sort key = {code(sort_words(place))}"
    fixed = place.sk.prefix({name: f"<{name}>" for name in listing.where})
    words = [f"sort key begins with {code(fixed)}"] if fixed else []
    if listing.between is not None:
        choice = "" if place.bucket is not None and listing.window is None else "optionally "
        window = f", by default the last {length_words(listing.window)}" if listing.window is not None else ""
        words.append(f"{choice}between two {code(f'<{listing.between}>')}{window}")
    return ", ".join(words) or "every sort key"


def item_collection_text(root: Placement, members: Placement) -> str:
    words = KEY_SEPARATOR.join(members.sk.leading_literals[:1])
    ends = sorted([f"{words}{KEY_SEPARATOR}", root.sk.text])
    return f"sort key from {code(ends[0])} to {code(ends[1])}"


def traffic_words(traffic: Traffic) -> str:
    items = "1 item" if traffic.items == 1 else f"{traffic.items:,} items"
    return f"{traffic.per_second:g}/s, {items} of {traffic.item_bytes:,} bytes"


def expiry_words(expiry: Expiry) -> str:
    if expiry.at is not None:
        return f"at {code(expiry.at)}"
    return f"{length_words(expiry.after)} after {code(expiry.since or '')}"


def length_words(length: timedelta) -> str:
    for unit, name in ((timedelta(days=1), "days"), (timedelta(hours=1), "hours")):
        count, rest = divmod(length, unit)
        if count > 1 and not rest:
            return f"{count} {name}"
    return str(length)
