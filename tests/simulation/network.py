"""The table behind a bad network: late, twice, without an answer, throttled, lagging, with sessions that end."""

import asyncio
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from gateway.aws.credentials import Credentials
from gateway.aws.errors import AnswerLate, AwsError, ConnectionBroken, ThroughputExceeded
from gateway.aws.target import Target
from tests.store.memory import Answer, Memory, Row

LAG = 2.0
"""Seconds by which a read that is not strong may be behind, at most."""
_TOKENS_KEPT = 600.0
_WRITES = frozenset(("TransactWriteItems",))


@dataclass
class BadNetwork(Memory):
    """`tenants` says whose session an access key is; `kept` are client tokens with the moment they are forgotten."""

    random: Random = field(default_factory=Random)
    tenants: dict[str, str] = field(default_factory=dict)
    kept: dict[str, tuple[float, Answer]] = field(default_factory=dict)
    past: deque[tuple[float, dict[tuple[str, str], Row]]] = field(default_factory=deque)
    foreign: list[str] = field(default_factory=list)
    remembers_tokens: bool = True
    late: set["asyncio.Future[None]"] = field(default_factory=set)

    async def call(
        self,
        operation: str,
        body: Mapping[str, Any],
        *,
        credentials: Credentials,
        target: Target,
        deadline: float | None = None,
    ) -> Answer:
        self._check_rows(operation, body, credentials)
        luck = self.random.random()
        await asyncio.sleep(self.random.expovariate(50))
        if luck < 0.04:
            raise ThroughputExceeded("too many requests")
        if luck < 0.08:
            raise ConnectionBroken("it broke before the request was there")
        if luck < 0.10:
            self.revoked.add(credentials.access_key)
        answer = await self._taken(operation, body, credentials, target)
        if operation in _WRITES and luck > 0.90:
            self._again(body, credentials, target)
        if luck > 0.94:
            raise AnswerLate("it was carried out, and the answer is lost")
        await asyncio.sleep(self.random.expovariate(50))
        return answer

    async def _taken(self, operation: str, body: Mapping[str, Any], credentials: Credentials, target: Target) -> Answer:
        now = asyncio.get_running_loop().time()
        if operation not in _WRITES:
            return await self._read(operation, body, credentials, target, now)
        token = str(body.get("ClientRequestToken"))
        if self.remembers_tokens and token in self.kept and self.kept[token][0] > now:
            return self.kept[token][1]
        self.past.append((now, dict(self.rows)))
        answer = await super().call(operation, body, credentials=credentials, target=target)
        self.kept[token] = (now + _TOKENS_KEPT, answer)
        return answer

    async def _read(
        self, operation: str, body: Mapping[str, Any], credentials: Credentials, target: Target, now: float
    ) -> Answer:
        """A read that is not strong sees any state of the last moments."""
        while self.past and self.past[0][0] < now - LAG:
            self.past.popleft()
        if body.get("ConsistentRead") or not self.past:
            return await super().call(operation, body, credentials=credentials, target=target)
        here, there = self.rows, self.random.choice([*(rows for _, rows in self.past), self.rows])
        answer = self._operations()[operation](dict(body)) if there is here else None
        if answer is None:
            self.rows = there
            try:
                answer = self._operations()[operation](dict(body))
            finally:
                self.rows = here
        return answer

    def _again(self, body: Mapping[str, Any], credentials: Credentials, target: Target) -> None:
        """The same request arrives once more, sometimes long after its token is forgotten."""

        async def later() -> None:
            await asyncio.sleep(self.random.choice((0.01, 5.0, 2 * _TOKENS_KEPT)))
            try:
                await self._taken("TransactWriteItems", body, credentials, target)
            except AwsError:
                return  # nobody waits for its answer

        self.late.add(task := asyncio.ensure_future(later()))
        task.add_done_callback(self.late.discard)

    def _check_rows(self, operation: str, body: Mapping[str, Any], credentials: Credentials) -> None:
        tenant = self.tenants.get(credentials.access_key, "")
        for key in _partitions(body, self.spec.pk):
            if not key.startswith(f"TENANT#{tenant}#"):
                self.foreign.append(f"{operation} of {tenant} names {key}")


def _partitions(value: Any, pk: str) -> list[str]:
    """Every partition key anywhere in a request."""
    if isinstance(value, Mapping):
        own = [value[pk]["S"]] if isinstance(value.get(pk), Mapping) and "S" in value[pk] else []
        return own + [key for each in value.values() for key in _partitions(each, pk)]
    return [key for each in value for key in _partitions(each, pk)] if isinstance(value, list | tuple) else []
