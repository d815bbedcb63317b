"""The one class that runs plans: it authorises, calls, pages, merges, retries what was left, and checks every row."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from heapq import merge
from typing import Any

from gateway.aws.dynamodb import DynamoDB
from gateway.aws.errors import CredentialsExpired
from gateway.aws.sessions import Session
from gateway.errors import DeadlineExceeded, Forbidden, IsolationBreach, Throttled, Unavailable
from gateway.iam.evaluator import Deny
from gateway.model.keys import ItemKey
from gateway.model.model import Model
from gateway.model.tenant import TenantId
from gateway.store import wire
from gateway.store.access import Access, Call, Refusal, together
from gateway.store.plan import GetItems, QueryMany, QueryPartition, QueryTogether
from gateway.store.rows import Item, Rows
from gateway.store.touched import touched

_CHUNK = 100  # keys of one BatchGetItem
_PATIENCE = 10.0  # seconds to keep asking for unprocessed keys when the request has no deadline
_FIRST_PAUSE, _LONGEST_PAUSE = 0.025, 1.0
_PARALLEL_GROUPS = 8  # time buckets read ahead at once

Renew = Callable[[Session], Awaitable[Session]]


@dataclass(frozen=True, slots=True)
class Page:
    """Items in the listing's order; `more` tells whether the listing goes on in the direction that was read."""

    items: tuple[Item, ...]
    more: bool


class Table:
    def __init__(self, client: DynamoDB, model: Model, renew: Renew, rows: Rows | None = None) -> None:
        self._client = client
        self._model = model
        self._renew = renew
        self._rows = rows or Rows(model)

    async def get(self, access: Access, plan: GetItems) -> list[Item | None]:
        """Any number of keys, in chunks of 100 in parallel; the answer has the order of the keys."""
        _same_tenant(access, plan.tenant)
        distinct = tuple(dict.fromkeys(plan.keys))
        names = self._rows.stored_names(plan.attributes, None)
        if len(distinct) == 1:
            found = await self._get_one(access, plan, distinct[0], names)
        else:
            chunks = [distinct[start : start + _CHUNK] for start in range(0, len(distinct), _CHUNK)]
            answers = await together([self._get_chunk(access, plan, chunk, names) for chunk in chunks])
            found = {key: item for answer in answers for key, item in answer.items()}
        return [found.get(key) for key in plan.keys]

    async def _get_one(
        self, access: Access, plan: GetItems, key: ItemKey, names: tuple[str, ...]
    ) -> dict[ItemKey, Item | None]:
        body = wire.get_item(self._model.table, access.session.tenancy.table, key, names, plan.strong)
        answer = await self.call(access, "GetItem", body)
        row = answer.get("Item")
        return {key: self._item(plan, row) if row else None}

    async def _get_chunk(
        self, access: Access, plan: GetItems, keys: tuple[ItemKey, ...], names: tuple[str, ...]
    ) -> dict[ItemKey, Item | None]:
        spec, table = self._model.table, access.session.tenancy.table
        found: dict[ItemKey, Item | None] = {}
        left = [wire.key_of(spec, key) for key in keys]
        now = asyncio.get_running_loop().time()
        give_up = now + _PATIENCE if access.deadline is None else access.deadline
        pause = _FIRST_PAUSE
        while left:
            answer = await self.call(access, "BatchGetItem", wire.batch_get_item(table, left, names, plan.strong))
            for row in answer.get("Responses", {}).get(table, ()):
                item = self._item(plan, row)
                found[ItemKey(row[spec.pk]["S"], row[spec.sk]["S"])] = item
            left = answer.get("UnprocessedKeys", {}).get(table, {}).get("Keys", [])
            if left:
                await _wait(pause, give_up, len(left))
                pause = min(pause * 2, _LONGEST_PAUSE)
        return found

    def _item(self, plan: GetItems, row: dict[str, Any]) -> Item | None:
        return self._rows.item(plan.tenant, row, plan.entity, plan.attributes, self._model.table.sk)

    async def query(self, access: Access, plan: QueryMany) -> Page:
        """The window's page of a listing, over all its shards and buckets."""
        items: list[Item] = []
        limit = plan.window.limit
        for start in range(0, len(plan.groups), _PARALLEL_GROUPS):
            wave = plan.groups[start : start + _PARALLEL_GROUPS]
            for group in await together([self._group(access, plan.entity, queries) for queries in wave]):
                items.extend(group)
            if len(items) > limit:
                break
        page = items[:limit]
        return Page(tuple(reversed(page) if plan.window.backward else page), more=len(items) > limit)

    async def _group(self, access: Access, entity: str, queries: tuple[QueryPartition, ...]) -> list[Item]:
        streams = await together([self._partition(access, query, (entity,)) for query in queries])
        if len(streams) == 1:
            return streams[0]
        # the merge is stopped at one more than a page: each stream holds that many if it has them
        merged = merge(*streams, key=lambda item: item.position, reverse=not queries[0].forward)
        return [item for item, _ in zip(merged, range(queries[0].limit), strict=False)]

    async def query_together(self, access: Access, plan: QueryTogether) -> tuple[Item | None, list[Item]]:
        """The item and the members that were read with it; both from one partition."""
        items = await self._partition(access, plan.query, (plan.root, plan.member))
        roots = [item for item in items if item.entity == plan.root]
        return (roots[0] if roots else None), [item for item in items if item.entity != plan.root]

    async def _partition(self, access: Access, plan: QueryPartition, entities: tuple[str, ...]) -> list[Item]:
        """Up to `limit` items; pages are followed, also where expired items left a page short."""
        _same_tenant(access, plan.tenant)
        spec = self._model.table
        position = plan.index.sk if plan.index is not None else spec.sk
        names = self._rows.stored_names(plan.attributes, plan.index.sk if plan.index is not None else None)
        items: list[Item] = []
        expired = 0
        start: dict[str, Any] | None = None
        while len(items) < plan.limit:
            # as many expired ones may follow as came so far, or a thousand of them would take a thousand calls
            wanted = plan.limit - len(items) + expired
            body = wire.query(spec, access.session.tenancy.table, plan, names, wanted)
            if start is not None:
                body["ExclusiveStartKey"] = start
            answer = await self.call(access, "Query", body)
            for row in answer.get("Items", ()):
                kind = self._rows.kind(row)
                expected = kind if kind in entities else entities[0]
                item = self._rows.item(plan.tenant, row, expected, plan.attributes, position)
                if item is not None:
                    items.append(item)
                else:
                    expired += 1
            start = answer.get("LastEvaluatedKey")
            if start is None:
                break
        return items[: plan.limit]

    async def call(self, access: Access, operation: str, body: dict[str, Any]) -> dict[str, Any]:
        """INVARIANT: no request reaches DynamoDB that the session's policies do not allow."""
        session = access.session
        try:
            return await self._send(access, operation, body)
        except CredentialsExpired:
            # once: the session was revoked or ran out while the request was under way
            await self._renewed(access, session)
            return await self._send(access, operation, body)

    async def _renewed(self, access: Access, refused: Session) -> None:
        """Calls that ran side by side all come here with the same session: the first one renews it for all."""
        async with access.renewal:
            if access.session is not refused:
                return
            session = await self._renew(refused)
            if (session.tenant, session.tenancy) != (refused.tenant, refused.tenancy):
                raise Unavailable("the tenant is being moved; try again")
            access.session = session

    async def _send(self, access: Access, operation: str, body: dict[str, Any]) -> dict[str, Any]:
        session = access.session
        verdict = session.permissions.check(operation, body)
        if isinstance(verdict, Deny):
            access.refusals.append(Refusal(operation, verdict.reason))
            raise Forbidden(f"the role `{session.role}` may not do this") from PermissionError(verdict.reason)
        clock = asyncio.get_running_loop().time
        started = clock()
        answer = await self._client.call(
            operation,
            body,
            credentials=session.credentials,
            target=session.tenancy.target,
            deadline=access.deadline,
        )
        access.calls.append(
            Call(
                operation=operation,
                index=body.get("IndexName"),
                items=_count(answer),
                capacity=_capacity(answer.get("ConsumedCapacity")),
                seconds=clock() - started,
                statements=verdict.statements,
                touched=touched(self._model, session.tenant, operation, body) if access.explained else (),
                started=started,
            )
        )
        return answer


def _same_tenant(access: Access, tenant: TenantId) -> None:
    # INVARIANT: a plan is run with its own tenant's session and with no other.
    if access.session.tenant != tenant:
        raise IsolationBreach("a plan of one tenant met the session of another")


async def _wait(pause: float, give_up: float, left: int) -> None:
    """Full jitter, up to the deadline and then a clear error: never silently dropped."""
    now = asyncio.get_running_loop().time()
    delay = random.uniform(0, pause)  # noqa: S311  jitter is no secret
    if now + delay >= give_up:
        error = Throttled if give_up > now else DeadlineExceeded
        raise error(f"{left} items could not be read in time; try again")
    await asyncio.sleep(delay)


def _count(answer: dict[str, Any]) -> int:
    if "Items" in answer:
        return len(answer["Items"])
    if "Responses" in answer:
        return sum(len(rows) for rows in answer["Responses"].values())
    return 1 if answer.get("Item") else 0


def _capacity(consumed: Any) -> float:
    if isinstance(consumed, list):
        return sum(float(each.get("CapacityUnits", 0)) for each in consumed)
    return float(consumed.get("CapacityUnits", 0)) if consumed else 0.0
