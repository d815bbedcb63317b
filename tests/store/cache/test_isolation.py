"""A hundred thousand requests of fifty tenants with equal ids, interleaved: no answer holds another tenant's canary.

That many in `make test-random`, a sample in `make test`.
"""

import asyncio
import random
import re
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from gateway.model.tenant import TenantId, tenant_id
from gateway.store.access import Access
from gateway.store.cache.keeper import CacheRules
from gateway.store.plan import GetItems, QueryMany
from gateway.store.write.items import items_for
from tests.drawn import drawn
from tests.store.cache.fixtures import (
    EDITOR,
    MODEL,
    SUPPORT,
    TAG,
    THING,
    CachedStore,
    listed,
    policies,
    session,
    things,
)
from tests.store.fixtures import NOW, TABLE

# one name is the beginning of another, as an attacker would choose it
TENANTS = [tenant_id(f"t{number}") for number in range(10, 35)] + [tenant_id(f"t{number}x") for number in range(10, 35)]
IDS = [f"id{number}" for number in range(6)]
ROLES = {"editor": EDITOR, "viewer": policies(sid="Viewer"), "support": SUPPORT}
SESSIONS = {(tenant, role): session(tenant, role, policy) for tenant in TENANTS for role, policy in ROLES.items()}
NAMES = frozenset({"thingId", "words", "word"})
REQUESTS, PARTS, WORKERS = drawn(100_000, 6_000), drawn(4, 1), 100
_CANARY = re.compile(r"canary-(\w+)-")


def row(tenant: TenantId, name: str) -> dict[str, Any]:
    values = {"thingId": name, "kind": "k", "at": NOW, "rank": IDS.index(name), "words": {f"canary-{tenant}-"}}
    [item] = items_for(MODEL, THING, tenant, values)
    return item


def seeded() -> CachedStore:
    # too small for all of them, so that entries come and go
    store = CachedStore(CacheRules(bytes=2_000_000), jitter=random.random)
    for tenant in TENANTS:
        store.memory.put(row(tenant, name) for name in IDS)
        store.memory.put(items_for(MODEL, TAG, tenant, {"thingId": "id0", "word": f"canary-{tenant}-"}))
    return store


def readable(role: str) -> frozenset[str]:
    return NAMES if role == "support" else NAMES | {"rank"}


@cache
def items(tenant: TenantId, role: str, *names: str) -> GetItems:
    return replace(things(*names, tenant=tenant), attributes=readable(role))


@cache
def page(tenant: TenantId, role: str, name: str) -> QueryMany:
    plan = listed(name, 5, tenant, **({"kind": "k"} if name == "thingsByRank" else {"thingId": "id0"}))
    names = readable(role)
    return replace(
        plan, groups=tuple(tuple(replace(each, attributes=names) for each in group) for group in plan.groups)
    )


async def random_read(store: CachedStore, tenant: TenantId, chance: random.Random) -> tuple[Any, ...]:
    role = chance.choice(tuple(ROLES))
    access = Access(SESSIONS[tenant, role])
    kind = chance.random()
    store.clock.now += 0.01
    if kind < 0.8:
        names = chance.choices(IDS, k=chance.choice([1, 1, 1, 3]))
        return tuple(await store.table.get(access, items(tenant, role, *names)))
    if kind < 0.99:
        plan = page(tenant, role, chance.choice(["thingsByRank", "looseTags"]))
        return (await store.table.query(access, plan)).items
    if kind < 0.9995:
        body = {"TransactItems": [{"Put": {"TableName": TABLE, "Item": row(tenant, chance.choice(IDS))}}]}
        await store.table.call(Access(SESSIONS[tenant, "editor"]), "TransactWriteItems", body)
        return ()
    store.cache.forget(tenant)
    return ()


@pytest.mark.no_cover
@pytest.mark.parametrize("part", range(PARTS))
async def test_no_answer_holds_the_canary_of_another_tenant(part: int) -> None:
    store, requests = seeded(), REQUESTS // PARTS
    left = iter(range(requests))
    seen = 0

    async def work(number: int) -> None:
        nonlocal seen
        chance = random.Random(f"{part} {number}")
        for _ in left:
            tenant = chance.choice(TENANTS)
            answer = await random_read(store, tenant, chance)
            canaries = set(_CANARY.findall(repr(answer)))
            assert canaries <= {tenant}, f"{tenant} was answered {canaries}"
            seen += len(canaries)

    await asyncio.gather(*(work(number) for number in range(WORKERS)))
    stats = store.cache.stats().total
    await store.cache.close()
    assert seen > requests * 0.9, "answers hold canaries at all"
    assert stats.hits > requests * 0.5, "and most of them came from the cache"
    assert min(stats.evictions, stats.shared, stats.dropped, stats.carried, stats.renewals) > 0, stats
