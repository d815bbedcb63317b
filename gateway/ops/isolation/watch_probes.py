"""Probes of subscriptions: every watch as every tenant, role and subject, while marked items of all tenants change.

The marker of an item is its version, a number that no other item has. The changes are real: they are written with
the tenants' sessions, arrive through the table's stream, and are read as for any subscriber.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from gateway.aws.sts.callers import LastingCaller
from gateway.aws.sts.session import Session
from gateway.aws.wire.dynamodb import DynamoDB
from gateway.errors import Unavailable
from gateway.graph.http.request import GraphQLRequest
from gateway.graph.http.responses import HttpResponse
from gateway.graph.subscription.cohort import SubscriptionEnded
from gateway.graph.subscription.event_reader import WatchFailed
from gateway.graph.subscription.operations import Operations
from gateway.graph.subscription.subscription import Subscription
from gateway.iam.policies.roles import GatewayRole, roles_of
from gateway.model.keys import ItemKey
from gateway.model.model import Model
from gateway.model.patterns import Listing, Watch, parameters, watched_patterns
from gateway.model.tenant import TenantId
from gateway.ops.isolation.attack import Outcome, ProbeResult, Verdict
from gateway.ops.isolation.probes import Expected, Probe
from gateway.stream.bus import Bus
from gateway.stream.note import ChangeNote

Row = Mapping[str, Any]
_GROUP = "subscriptions"
_OPERATION = "Subscribe"
_FIRST_MARKER = 1_700_000_001  # not a version that any row already has; fits GraphQL's Int
_SUBJECTS = 2  # per tenant
_PATIENCE = 60.0  # seconds for the changes to arrive


@dataclass(frozen=True, slots=True)
class WatchGround:
    """`writers` are sessions that may write, `rows` all rows of the tenants, `subjects` people who own some."""

    model: Model
    operations: Operations
    bus: Bus
    client: DynamoDB
    writers: Mapping[TenantId, Session]
    rows: Mapping[TenantId, Sequence[Row]]
    subjects: Mapping[TenantId, tuple[str, ...]]
    caller: Callable[[TenantId, str, str], Awaitable[LastingCaller]]


@dataclass(eq=False, slots=True)
class _MarkedItem:
    """An item with its copies, and every marker that it has had."""

    tenant: TenantId
    rows: tuple[Row, ...]
    markers: set[int] = field(default_factory=set)

    def texts(self) -> set[str]:
        return {next(iter(value.values())) for value in self.rows[0].values() if "S" in value}


@dataclass(eq=False, slots=True)
class _Watcher:
    tenant: TenantId
    role: GatewayRole
    subject: str
    variables: Mapping[str, str]
    refusal: str = ""
    events: list[dict[str, Any]] = field(default_factory=list)
    begun: asyncio.Event = field(default_factory=asyncio.Event)

    def may_see(self, item: _MarkedItem) -> bool:
        return item.tenant == self.tenant and (not self.role.own or self.subject in item.texts())

    async def listen(self, subscription: Subscription) -> None:
        try:
            while True:
                self.events.append(json.loads((await subscription.next()).text))
                self.begun.set()
        except (SubscriptionEnded, WatchFailed) as ended:
            self.refusal = self.refusal or _code(ended)
            self.begun.set()


async def prove_watches(ground: WatchGround) -> tuple[ProbeResult, ...]:
    markers = count(_FIRST_MARKER)
    results: list[ProbeResult] = []
    for watch in ground.model.watches.values():
        results += await _prove(ground, watch, markers)
    return tuple(results)


async def _prove(ground: WatchGround, watch: Watch, markers: Iterator[int]) -> list[ProbeResult]:
    items = [*_marked(ground, watch)]
    names = parameters(ground.model, ground.model.patterns[watch.pattern])
    keys = {tuple(item.rows[0][name]["S"] for name in names): None for item in items}
    await _change(ground, items, markers)
    watchers = [
        _Watcher(tenant, role, subject, dict(zip(names, values, strict=True)))
        for tenant, role, subject in _callers(ground)
        for values in keys
    ]
    with ExitStack() as opened:
        listening = [await _open(ground, watch, watcher, opened) for watcher in watchers]
        await _settled(ground)
        before = [len(watcher.events) for watcher in watchers]
        await _change(ground, items, markers)
        # otherwise both changes could become one event, in which an item that leaves its list has no marker
        await _settled(ground)
        await _change(ground, items, markers, poisoned=True)
        await _settled(ground)
        for task in listening:
            if task is not None:
                task.cancel()
        await asyncio.gather(*(task for task in listening if task is not None), return_exceptions=True)
    return [
        _probe_result(ground.model, watch, watcher, first, items)
        for watcher, first in zip(watchers, before, strict=True)
    ]


def _marked(ground: WatchGround, watch: Watch) -> Iterator[_MarkedItem]:
    """One item of each subject, or any item if rows have no owner; for a listing, one that is in it."""
    model, spec = ground.model, ground.model.table
    pattern = model.patterns[watch.pattern]
    index = spec.index(model.place(pattern).index) if isinstance(pattern, Listing) else None
    entity, listed = model.entities[pattern.entity], spec.pk if index is None else index.pk
    for tenant, rows in ground.rows.items():
        by_key: dict[tuple[str, ...], list[Row]] = {}
        # the item itself, and its copies after it
        for row in sorted(rows, key=lambda row: spec.copy_of in row):
            if row.get(spec.entity_type, {}).get("S") == entity.name:
                by_key.setdefault(tuple(row[name]["S"] for name in entity.key_names), []).append(row)
        items = [_MarkedItem(tenant, tuple(group)) for group in by_key.values() if listed in group[0]]
        owned = [[item for item in items if subject in item.texts()] for subject in ground.subjects[tenant][:_SUBJECTS]]
        yield from dict.fromkeys(item for own in owned for item in (own or items)[:1])


def _callers(ground: WatchGround) -> Iterator[tuple[TenantId, GatewayRole, str]]:
    for tenant in ground.rows:
        for role in roles_of(ground.model):
            if not role.acting:
                yield from (
                    (tenant, role, subject) for subject in ground.subjects[tenant][: _SUBJECTS if role.own else 1]
                )


async def _open(ground: WatchGround, watch: Watch, watcher: _Watcher, opened: ExitStack) -> "asyncio.Task[None] | None":
    operations = ground.operations
    lasting = await ground.caller(watcher.tenant, watcher.role.name, watcher.subject)
    request = GraphQLRequest(document(ground, watch), dict(watcher.variables))
    started = await operations.begin(lasting, request, operations.endpoint.ids.begin({}))
    if isinstance(started, HttpResponse):
        watcher.refusal = ", ".join(started.codes)
        return None
    opened.callback(started.close)
    listening = asyncio.get_running_loop().create_task(watcher.listen(started))
    # one after another: hundreds of concurrent first reads would exceed the limits
    await watcher.begun.wait()
    return listening


def document(ground: WatchGround, watch: Watch) -> str:
    """The subscription that selects the markers, with its arguments."""
    model, schema = ground.model, ground.operations.endpoint.reference.schema
    pattern = model.patterns[watch.pattern]
    assert schema.subscription_type is not None  # noqa: S101  the model has a watch
    types = schema.subscription_type.fields[watch.name].args
    names = parameters(model, pattern)
    declared = ", ".join(f"${name}: {types[name].type}" for name in names)
    arguments = ", ".join(f"{name}: ${name}" for name in names)
    shown = "{ version }"
    if isinstance(pattern, Listing):
        shown = "{ page { nodes { version } } changes { kind nodeId node { version } } }"
    return (
        f"subscription {f'({declared})' if names else ''} {{ {watch.name}{f'({arguments})' if names else ''} {shown} }}"
    )


async def _change(
    ground: WatchGround, items: Sequence[_MarkedItem], markers: Iterator[int], *, poisoned: bool = False
) -> None:
    """Gives every item a new marker, in all of its copies.

    A poisoned item also claims the index keys of another tenant's item, which IAM does not see.
    """
    jobs = []
    for item in items:
        marker = next(markers)
        item.markers.add(marker)
        source = next(other for other in items if other.tenant != item.tenant) if poisoned else item
        jobs.append(_write(ground, item, marker, source.rows[0]))
    await asyncio.gather(*jobs)


async def _write(ground: WatchGround, item: _MarkedItem, marker: int, source: Row) -> None:
    """Returns once the stream has delivered the change."""
    spec, session = ground.model.table, ground.writers[item.tenant]
    keys = {ItemKey(row[spec.pk]["S"], row[spec.sk]["S"]) for row in item.rows}
    arrived = asyncio.Event()

    def deliver(note: ChangeNote) -> None:
        keys.discard(ItemKey(note.pk, note.sk))
        if not keys:
            arrived.set()

    indexed = {name: source[name] for index in spec.indexes for name in (index.pk, index.sk) if name in source}
    unsubscribe = ground.bus.subscribe(item.tenant, deliver)
    try:
        for row in item.rows:
            values = {**row, spec.version: {"N": str(marker)}, **(indexed if row is item.rows[0] else {})}
            body, target = {"TableName": session.tenancy.table, "Item": values}, session.tenancy.target
            await ground.client.call("PutItem", body, credentials=session.credentials, target=target)
        async with asyncio.timeout(_PATIENCE):
            await arrived.wait()
    except TimeoutError as error:
        raise Unavailable("the table's stream did not deliver the changes of the probes") from error
    finally:
        unsubscribe()


async def _settled(ground: WatchGround) -> None:
    """Waits until every change was reported to every subscriber that it affects."""
    try:
        async with asyncio.timeout(_PATIENCE):
            while not ground.operations.subscriptions.settled:  # noqa: ASYNC110  only the proof asks, so no event exists
                await asyncio.sleep(0.02)
    except TimeoutError as error:
        raise Unavailable("subscriptions did not tell in time what has changed") from error


def _probe_result(
    model: Model, watch: Watch, watcher: _Watcher, before: int, items: Sequence[_MarkedItem]
) -> ProbeResult:
    seen = {version for event in watcher.events for version in _versions(event)}
    strangers = [item for item in items if not watcher.may_see(item)]
    marks = tuple(dict.fromkeys(item.tenant for item in strangers if item.markers & seen))
    values = set(watcher.variables.values())
    own = [item for item in items if watcher.may_see(item) and values <= item.texts()]
    usable = watcher.role.patterns >= watched_patterns(model, watch)
    expected: Expected = "denied" if not usable else "allowed" if own else "harmless"
    outcome: Outcome = "denied" if watcher.refusal else "answered"
    late = {version for event in watcher.events[before:] for version in _versions(event)}
    # a subscriber that sees none of the items must not even learn that something has changed
    silent = bool(own) or len(watcher.events) == before
    was_reported = any(item.markers & late for item in own)
    verdict: Verdict = "leak" if marks or not silent else "held"
    if verdict == "held" and expected == "allowed" and not was_reported:
        verdict = "control failed"
    if verdict == "held" and expected == "denied" and outcome != "denied":
        verdict = "not denied"
    arguments = ", ".join(f"{name}: {value}" for name, value in watcher.variables.items())
    probe = Probe(_GROUP, f"{watch.name}({arguments}) of {watcher.subject}", _OPERATION, watcher.variables, expected)
    victim = next((item.tenant for item in items if item.tenant != watcher.tenant), watcher.tenant)
    return ProbeResult(
        watcher.tenant, watcher.role.name, victim, probe, outcome, verdict, watcher.refusal, agreed=True, marks=marks
    )


def _versions(content: object) -> Iterator[int]:
    if isinstance(content, dict):
        for name, value in content.items():
            if name == "version" and isinstance(value, int):
                yield value
            else:
                yield from _versions(value)
    elif isinstance(content, list):
        for value in content:
            yield from _versions(value)


def _code(ended: SubscriptionEnded | WatchFailed) -> str:
    if isinstance(ended, SubscriptionEnded):
        return ended.error.code
    return str(ended.errors[0]["extensions"]["code"]) if ended.errors else "FAILED"
