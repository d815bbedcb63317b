"""A migration on an engine: stopped in the middle, resumed, and verified, with conditions that the engine checks."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gateway.aws.wire.endpoint import AwsTarget
from gateway.ops.migrate.backfill import Backfill
from gateway.ops.migrate.checkpoint import Checkpoint, ScanSegment, load, save
from gateway.ops.migrate.row_checker import Repair, RowChecker, RowFault
from gateway.ops.migrate.scan import Pace, Walk
from gateway.ops.migrate.source import MigrationSource
from gateway.store.write.items import items_for
from tests.engines.shop import REGION, Shop
from tests.ops.migrate.whole import Static, Stopped
from tests.store.growing import AFTER, NEW, old_rows, split, ticket

pytestmark = pytest.mark.slow

COUNT = 12


class Stopping(Backfill):
    """Ends after some writes, as a process does that is killed; others are then under way."""

    writes_left: int = 0

    async def _write(self, repair: Repair) -> None:
        if self.writes_left == 0:
            raise Stopped
        self.writes_left -= 1
        await super()._write(repair)


def backfill(shop: Shop, kind: type[Backfill] = Backfill, *, dry: bool = False) -> Backfill:
    source = MigrationSource(shop.client, AwsTarget(shop.url, REGION), shop.table, Static())
    walk = Walk(source, NEW, Pace(1e9), ("Ticket",), shop.tenant, strong=True, page=10)
    return kind(walk, RowChecker(NEW), dry=dry)


def beginning(shop: Shop) -> Checkpoint:
    return Checkpoint(shop.table, "", shop.tenant, [ScanSegment()])


async def stored(shop: Shop, path: str, index: str | None = None) -> list[dict[str, Any]]:
    body = {
        "KeyConditionExpression": f"{index or ''}PK = :pk",
        "ExpressionAttributeValues": {":pk": {"S": f"TENANT#{shop.tenant}#{path}"}},
        **({"IndexName": index} if index else {}),
    }
    found: list[dict[str, Any]] = (await shop.call("Query", body))["Items"]
    return found


def expected(shop: Shop, number: int) -> list[dict[str, Any]]:
    values = ticket(number)
    values |= split(values)
    del values["fullName"]
    return items_for(NEW, AFTER, shop.tenant, values)


async def test_a_migration_that_is_stopped_loses_nothing(shop: Shop, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    await shop.write(old_rows(COUNT, shop.tenant))
    stopped = backfill(shop, Stopping)
    assert isinstance(stopped, Stopping)
    stopped.writes_left = COUNT // 2
    with pytest.raises(Stopped):
        await stopped.run(beginning(shop), lambda state: save(path, state))
    half = backfill(shop, dry=True)
    await half.run(beginning(shop), lambda state: None)
    assert half.tally.faults[RowFault.STALE] >= COUNT, "at least half of the items and of their copies are left"
    await backfill(shop).run(load(path, beginning(shop)), lambda state: save(path, state))
    for number in range(COUNT):
        [original] = await stored(shop, f"TICKET#t{number:03}")
        assert original == expected(shop, number)[0]
        assert await stored(shop, f"FAMILY#Number{number:03}", "GSI1") == [original]
    copies = await stored(shop, "USER#u")
    assert copies == [expected(shop, number)[1] for number in range(COUNT)]
    verified = backfill(shop, dry=True)
    await verified.run(beginning(shop), lambda state: None)
    assert verified.tally.faults == Counter()


async def test_an_item_that_was_changed_since_is_not_overwritten(shop: Shop) -> None:
    await shop.write(old_rows(1, shop.tenant))
    [row] = await stored(shop, "TICKET#t000")
    repair = RowChecker(NEW).verdict(row).repair
    assert repair is not None
    newer = {**row, "version": {"N": "2"}, "effort": {"N": "5"}}
    await shop.write([newer])
    work = backfill(shop)
    await work._repair(repair)
    [found] = await stored(shop, "TICKET#t000")
    assert (found["effort"], found["version"], found["schema"]) == ({"N": "5"}, {"N": "2"}, {"N": "2"})
    assert (work.tally.met, work.tally.repaired) == (1, 1)
