"""Relay's four arguments as a window of a listing."""

from collections.abc import Mapping
from typing import Any

from gateway.errors import BadUserInput
from gateway.model.patterns import Listing
from gateway.model.tenant import TenantId
from gateway.store.cursor import Cursors
from gateway.store.plan import ReadLimits, Window


def page_window(
    cursors: Cursors,
    tenant: TenantId,
    limits: ReadLimits,
    listing: Listing,
    arguments: Mapping[str, Any],
    first: int | None,
    after: str | None,
    last: int | None,
    before: str | None,
) -> Window:
    """The page that is asked for, or `BadUserInput`; cursors are bound to the other arguments."""
    if first is not None and last is not None:
        raise BadUserInput("give either `first` or `last`, not both")
    limit = first if first is not None else last if last is not None else limits.default_page
    if not 0 <= limit <= limits.page:
        raise BadUserInput(f"`{'last' if last is not None else 'first'}` lies between 0 and {limits.page}")
    if after is None and before is None:
        return Window(limit, backward=last is not None)
    ends = [None if each is None else cursors.open(tenant, listing.name, arguments, each) for each in (after, before)]
    return Window(limit, ends[0], ends[1], backward=last is not None)
