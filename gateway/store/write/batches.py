"""Bulk writes: items put in batches of 25; what a batch left over is sent again, and told when time runs out."""

import asyncio
from collections.abc import Sequence

from gateway.backoff import full_jitter
from gateway.errors import Throttled, Unavailable
from gateway.model.types import Wire
from gateway.store.access import Access, gather_or_cancel
from gateway.store.table import Table

_CHUNK = 25
_PARALLEL = 4
_PATIENCE = 10.0  # seconds to keep trying when the request has no deadline
_SHARE = 0.9  # of the time that is left: the rest is for telling the caller what was not written
_FIRST_PAUSE, _LONGEST_PAUSE = 0.025, 1.0


async def put_all(table: Table, access: Access, items: Sequence[Wire]) -> None:
    """Each item replaces what is there, so all of them may be sent again; raises with how many were not written."""
    now = asyncio.get_running_loop().time()
    give_up = now + _PATIENCE if access.deadline is None else now + _SHARE * (access.deadline - now)
    chunks = [items[start : start + _CHUNK] for start in range(0, len(items), _CHUNK)]
    left = 0
    for start in range(0, len(chunks), _PARALLEL):
        wave = chunks[start : start + _PARALLEL]
        left += sum(await gather_or_cancel([_put_chunk(table, access, chunk, give_up) for chunk in wave]))
    if left:
        raise Throttled(f"{left} of {len(items)} items were not written in time; send them again")


async def _put_chunk(table: Table, access: Access, items: Sequence[Wire], give_up: float) -> int:
    """How many are left when there is no more time, or DynamoDB no more patience."""
    clock, name = asyncio.get_running_loop().time, access.session.tenancy.table
    left = [{"PutRequest": {"Item": item}} for item in items]
    attempt = 0
    while left and clock() < give_up:
        body = {"RequestItems": {name: left}, "ReturnConsumedCapacity": "TOTAL"}
        try:
            answer = await table.call(access, "BatchWriteItem", body)
        except (Throttled, Unavailable):
            # the client has tried it several times; whether it was written is not known, but it does no harm twice
            return len(left)
        left = answer.get("UnprocessedItems", {}).get(name, [])
        if left:
            delay = full_jitter(attempt, _FIRST_PAUSE, _LONGEST_PAUSE)
            await asyncio.sleep(max(0.0, min(delay, give_up - clock())))
            attempt += 1
    return len(left)
