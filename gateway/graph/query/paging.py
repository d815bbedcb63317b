"""The arguments of a list: separates Relay's paging arguments from the others and turns them into a window."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from gateway.errors import BadUserInput
from gateway.model.filters import FILTER, filter_of
from gateway.model.patterns import CONSISTENT, ORDER, Listing, ListOrder
from gateway.store.cursor import Cursors
from gateway.store.plan import Range, ReadLimits, Window

PAGING = dict.fromkeys(("first", "after", "last", "before")).keys()


def take_arguments(listing: Listing, given: dict[str, Any]) -> list[Any]:
    """Removes Relay's arguments and leaves the others in the form that a plan reads.

    Cursors are bound to the remaining arguments. Requesting the default order of a listing is the same as omitting
    it.
    """
    span = given.get(listing.between or "")
    if span is not None and listing.between is not None:
        given[listing.between] = Range(span.get("from"), span.get("to"))
    if listing.reversible and (given.get(ORDER) is ListOrder.NEWEST_FIRST) is listing.newest_first:
        given.pop(ORDER, None)
    if listing.filter:
        item_filter = filter_of(given.pop(FILTER, None) or {})
        if item_filter is not None:
            given[FILTER] = item_filter
    if listing.consistent:
        given.pop(CONSISTENT, None)  # the binder has read it; a cursor works for both kinds of read
    return [given.pop(name, None) for name in PAGING]


def page_window(
    cursors: Cursors,
    scope: str,
    limits: ReadLimits,
    listing: Listing,
    arguments: Mapping[str, Any],
    first: int | None,
    after: str | None,
    last: int | None,
    before: str | None,
) -> Window:
    """Returns the requested page; raises `BadUserInput` if the arguments are invalid."""
    if first is not None and last is not None:
        raise BadUserInput("give either `first` or `last`, not both")
    limit = first if first is not None else last if last is not None else limits.default_page
    if not 0 <= limit <= limits.page:
        raise BadUserInput(f"`{'last' if last is not None else 'first'}` must be between 0 and {limits.page}")
    reverse = ORDER in arguments
    if after is None and before is None:
        return first_window(limit, last is not None, reverse)
    ends = [
        None if cursor is None else cursors.open(scope, listing.name, arguments, cursor) for cursor in (after, before)
    ]
    return Window(limit, ends[0], ends[1], last is not None, reverse)


@lru_cache(maxsize=1_024)
def first_window(limit: int, backward: bool = False, reverse: bool = False) -> Window:
    """Creates a window; cached, because most pages are the first of their list, and of few sizes."""
    return Window(limit, backward=backward, reverse=reverse)
