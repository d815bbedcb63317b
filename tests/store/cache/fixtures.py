"""A table with a cache in front of it: a clock that stands still, replicas that may lag, sessions of any role."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gateway.aws.sts.session import Session
from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.endpoint import AwsTarget
from gateway.aws.wire.errors import AccessDenied
from gateway.iam.dynamodb.key_schemas import KeySchema, TableRegistry
from gateway.iam.dynamodb.permissions import Permissions
from gateway.iam.language.document import parse
from gateway.iam.language.evaluator import PolicySet
from gateway.model.model import Domain, Model
from gateway.model.patterns import AccessPattern, Choice, Listing
from gateway.model.staleness import Staleness
from gateway.model.tenant import TenantId
from gateway.store.access import Access
from gateway.store.cache.cache import ReadCache
from gateway.store.cache.keeper import CacheRules, Clocks
from gateway.store.plan import GetItems, QueryMany, Window, plan_listing, plan_lookup
from gateway.store.rows import Item, Rows
from gateway.store.table import Table
from gateway.store.write.items import items_for
from gateway.store.write.writer import Writer
from gateway.testing.memory import Answer, Memory, Row
from tests.store import fixtures as store_fixtures
from tests.store.fixtures import ACME, NOW, TABLE, tenancy
from tests.store.fixtures import MODEL as PLAIN

THINGS, PAGES = Staleness(100, absence_seconds=10), Staleness(50, absence_seconds=5)
_PAGED = ("thingsByRank", "thingsOfKind", "tagOfThing")
NAMES = frozenset({"thingId", "rank", "word"})


def _patterns(patterns: tuple[AccessPattern | Choice, ...]) -> tuple[AccessPattern | Choice, ...]:
    paged = (
        replace(each, cached=PAGES) if isinstance(each, Listing) and each.name in _PAGED else each for each in patterns
    )
    loose = Listing(name="looseTags", entity="Tag", description="Tags, perhaps old.", cached=PAGES)
    return (*paged, loose)


def _cached(domain: Domain) -> Domain:
    kept = {"Thing": THINGS}
    entities = tuple(replace(each, cached=kept.get(each.name)) for each in domain.entities)
    return replace(domain, entities=entities, patterns=_patterns(domain.patterns))


MODEL = Model(domains=tuple(map(_cached, PLAIN.domains)), table=PLAIN.table)
THING, TAG = MODEL.entities["Thing"], MODEL.entities["Tag"]

_OWN = {
    "ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["TENANT#${aws:PrincipalTag/TenantId}#*"]},
    "Null": {"dynamodb:LeadingKeys": "false"},
}


def policies(*denied: str, sid: str = "OwnKeys") -> PolicySet:
    """Everything on the tenant's own keys, without some attributes."""
    allow = {"Sid": sid, "Effect": "Allow", "Action": "dynamodb:*", "Resource": "*", "Condition": _OWN}
    hidden = {"ForAnyValue:StringEquals": {"dynamodb:Attributes": list(denied)}}
    deny = {"Sid": "Hidden", "Effect": "Deny", "Action": "dynamodb:*", "Resource": "*", "Condition": hidden}
    statements = [allow, deny] if denied else [allow]
    return PolicySet((parse({"Version": "2012-10-17", "Statement": statements}, "identity"),))


EDITOR, SUPPORT = policies(), policies("rank")


def session(
    tenant: TenantId = ACME, role: str = "editor", policy: PolicySet = EDITOR, table: str = TABLE, of: str | None = None
) -> Session:
    """`of` is the tenant that the policies let in, where it is another."""
    keys = KeySchema(MODEL.table.pk, {index.name: (index.pk,) for index in MODEL.table.indexes})
    place = TableRegistry("eu-west-1", "123456789012", tables={table: keys})
    permissions = Permissions(policy, {"aws:PrincipalTag/TenantId": of or tenant}, place)
    return Session(tenant, role, Credentials(f"AKID{tenant}{role}", "secret"), tenancy(table=table), permissions)


async def settle() -> None:
    """Everything has gone as far as it can; turns are counted, since a busy machine has fewer of them in a time."""
    for _ in range(100):
        await asyncio.sleep(0)


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now

    def wall(self) -> float:
        return NOW.timestamp() + self.now - 1_000.0


@dataclass
class Lagging(Memory):
    """Eventual reads and indexes may answer as of a moment ago; a call may be held up until it is let go."""

    old: dict[tuple[str, str], Row] | None = None
    gates: dict[str, asyncio.Event] = field(default_factory=dict)
    denied: set[str] = field(default_factory=set)  # access keys that AWS refuses, whatever we think

    def fall_behind(self) -> None:
        self.old = {key: dict(row) for key, row in self.rows.items()}

    def hold(self, operation: str) -> asyncio.Event:
        self.gates[operation] = asyncio.Event()
        return self.gates[operation]

    async def call(
        self,
        operation: str,
        body: Mapping[str, Any],
        *,
        credentials: Credentials,
        target: AwsTarget,
        deadline: float | None = None,
    ) -> Answer:
        if credentials.access_key in self.denied:
            raise AccessDenied("aws does not allow this")
        request = next(iter(body.get("RequestItems", {"": body}).values()))
        eventual = operation in ("GetItem", "BatchGetItem", "Query") and not request.get("ConsistentRead")
        now = self.rows
        answer_of = super().call
        if self.old is not None and eventual:
            self.rows = self.old
        try:
            answer = await answer_of(operation, body, credentials=credentials, target=target, deadline=deadline)
        finally:
            self.rows = now
        gate = self.gates.pop(operation, None)
        if gate is not None:
            # what was read is on its way while others go on
            await gate.wait()
        return answer


no_renewal = store_fixtures.no_renewal


class CachedStore:
    def __init__(self, rules: CacheRules = CacheRules(), jitter: Callable[[], float] = lambda: 0.0) -> None:  # noqa: B008  frozen
        self.clock = Clock()
        self.memory = Lagging(MODEL.table, TABLE)
        self.cache = ReadCache(MODEL, rules, clocks=Clocks(self.clock, self.clock.wall, jitter))
        self.table = Table(self.memory, MODEL, no_renewal, Rows(MODEL, clock=self.clock.wall), self.cache)

    def put(self, name: str, tenant: TenantId = ACME, **values: Any) -> None:
        known = {"thingId": name, "kind": "k", "at": NOW, "rank": 1, **values}
        self.memory.put(items_for(MODEL, THING, tenant, known))

    def tag(self, word: str, **values: Any) -> None:
        self.memory.put(items_for(MODEL, TAG, ACME, {"thingId": "t", "word": word, **values}))

    async def things(self, *names: str, access: Access | None = None, pattern: str = "thing") -> list[Item | None]:
        access = access or Access(session())
        return await self.table.get(access, things(*names, tenant=access.session.tenant, pattern=pattern))

    async def rank(self, name: str, access: Access | None = None) -> Any:
        [item] = await self.things(name, access=access)
        return None if item is None else item.values.get("rank")

    async def page(self, listing: str, limit: int = 10, access: Access | None = None, **arguments: Any) -> list[Item]:
        access = access or Access(session())
        plan = listed(listing, limit, access.session.tenant, **arguments)
        return list((await self.table.query(access, plan)).items)

    async def ranked(self, access: Access | None = None, kind: str = "k") -> list[str]:
        return [item.values["thingId"] for item in await self.page("thingsByRank", access=access, kind=kind)]

    def writer(self, given: Session | None = None) -> Writer:
        return Writer(MODEL, self.table, Access(given or session()))

    async def update(self, name: str, **changes: Any) -> None:
        writer = self.writer()
        change = writer.change()
        change.update(await writer.stored("Thing", {"thingId": name}), changes)
        await writer.table.call(writer.access, "TransactWriteItems", transaction(change.members))

    @property
    def calls(self) -> list[str]:
        return [operation for operation, _ in self.memory.sent]


def transaction(members: Any) -> Row:
    return {"TransactItems": [{each.kind: {"TableName": TABLE, **each.body}} for each in members]}


def things(*names: str, tenant: TenantId = ACME, pattern: str = "thing") -> GetItems:
    ids = tuple({"thingId": name} for name in names)
    return plan_lookup(MODEL, MODEL.lookup(pattern), tenant, ids, NAMES)


def listed(name: str, limit: int = 10, tenant: TenantId = ACME, **arguments: Any) -> QueryMany:
    return plan_listing(MODEL, MODEL.listing(name), tenant, arguments, Window(limit), NAMES)
