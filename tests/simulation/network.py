"""The table behind a bad network: late, twice, without an answer, throttled, lagging, with sessions that end."""

import asyncio
from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.endpoint import AwsTarget
from gateway.aws.wire.errors import AnswerLate, AwsError, ConnectionBroken, CredentialsExpired, ThroughputExceeded
from gateway.testing.memory import Answer, Memory, Row

EPOCH = 1_800_000_000.0
"""The time of day when a simulation begins."""
LAG = 2.0
"""Seconds by which replicas and indexes may be behind, at most; what the cache calls `settle_seconds`."""
_TOKENS_KEPT = 600.0
_WRITE = "TransactWriteItems"

RowKey = tuple[str, str]
State = tuple[float, Row | None]


def delay(random: Random, slow: float = 1.0) -> float:
    """Mostly milliseconds, sometimes a second, rarely many; `slow` times as long where it is mostly."""
    luck = random.random()
    if luck < 0.93:
        return random.expovariate(50) * slow
    return random.expovariate(2) if luck < 0.99 else random.uniform(1, 8)


@dataclass
class BadNetwork(Memory):
    """`tenants` says whose session an access key is; `states` is what every row has been, and since when.

    `kept` are client tokens with the moment they are forgotten; `foreign` are requests for another tenant's rows.
    """

    random: Random = field(default_factory=Random)
    slow: float = 1.0
    tenants: dict[str, str] = field(default_factory=dict)
    kept: dict[str, tuple[float, Answer]] = field(default_factory=dict)
    states: defaultdict[RowKey, list[State]] = field(default_factory=lambda: defaultdict(list))
    changed: deque[tuple[float, RowKey]] = field(default_factory=deque)
    foreign: list[str] = field(default_factory=list)
    remembers_tokens: bool = True
    late: set["asyncio.Future[None]"] = field(default_factory=set)

    async def call(
        self,
        operation: str,
        body: Mapping[str, Any],
        *,
        credentials: Credentials,
        target: AwsTarget,
        deadline: float | None = None,
    ) -> Answer:
        self._check_rows(operation, body, credentials)
        luck = self.random.random()
        try:
            await asyncio.sleep(delay(self.random, self.slow))
        except asyncio.CancelledError:
            if operation == _WRITE and luck > 0.5:
                self._later(body, credentials, target)  # it was sent: that the sender is gone does not stop it
            raise
        if luck < 0.04:
            raise ThroughputExceeded("too many requests")
        if luck < 0.08:
            raise ConnectionBroken("it broke before the request was there")
        if luck < 0.10:
            self.revoked.add(credentials.access_key)
        answer = await self._taken(operation, body, credentials, target)
        if operation == _WRITE and luck > 0.90:
            self._later(body, credentials, target)
        if luck > 0.94:
            raise AnswerLate("it was carried out, and the answer is lost")
        await asyncio.sleep(delay(self.random, self.slow))
        return answer

    async def _taken(
        self, operation: str, body: Mapping[str, Any], credentials: Credentials, target: AwsTarget
    ) -> Answer:
        now = asyncio.get_running_loop().time()
        if credentials.expires_at <= EPOCH + now:
            raise CredentialsExpired("the session with aws is over")
        if operation != _WRITE:
            return await self._read(operation, body, credentials, target, now)
        token = str(body.get("ClientRequestToken"))
        if self.remembers_tokens and token in self.kept and self.kept[token][0] > now:
            return self.kept[token][1]
        answer = await super().call(operation, body, credentials=credentials, target=target)
        self.kept[token] = (now + _TOKENS_KEPT, answer)
        self._note(body, asyncio.get_running_loop().time())
        return answer

    def _note(self, body: Mapping[str, Any], now: float) -> None:
        for member in body["TransactItems"]:
            [(kind, part)] = member.items()
            if kind != "ConditionCheck":
                key = self._key(
                    {name: (part.get("Key") or part["Item"])[name] for name in (self.spec.pk, self.spec.sk)}
                )
                self.states[key].append((now, self.rows.get(key)))
                self.changed.append((now, key))

    async def _read(
        self, operation: str, body: Mapping[str, Any], credentials: Credentials, target: AwsTarget, now: float
    ) -> Answer:
        """What is not read consistently is seen, row by row, in any state of the last moments."""
        request = next(iter(body["RequestItems"].values())) if "RequestItems" in body else body
        while self.changed and self.changed[0][0] < now - LAG:
            self.changed.popleft()
        if request.get("ConsistentRead") or not self.changed or credentials.access_key in self.revoked:
            return await super().call(operation, body, credentials=credentials, target=target)
        here, self.rows = self.rows, self._behind(now)
        try:
            return self._operations()[operation](dict(body))
        finally:
            self.rows = here

    def _behind(self, now: float) -> dict[RowKey, Row]:
        seen = dict(self.rows)
        for key in dict.fromkeys(key for _, key in self.changed):
            states = self.states[key]
            first = bisect_right([since for since, _ in states], now - LAG) - 1
            row = self.random.choice([*([None] if first < 0 else []), *(row for _, row in states[max(first, 0) :])])
            if row is None:
                seen.pop(key, None)
            else:
                seen[key] = row
        return seen

    def _later(self, body: Mapping[str, Any], credentials: Credentials, target: AwsTarget) -> None:
        """The request arrives at another moment, sometimes long after its token is forgotten."""

        async def arrives() -> None:
            await asyncio.sleep(self.random.choice((0.01, 5.0, 2 * _TOKENS_KEPT)))
            try:
                await self._taken(_WRITE, body, credentials, target)
            except AwsError:
                return  # nobody waits for its answer

        self.late.add(task := asyncio.ensure_future(arrives()))
        task.add_done_callback(self.late.discard)

    def _check_rows(self, operation: str, body: Mapping[str, Any], credentials: Credentials) -> None:
        tenant = self.tenants.get(credentials.access_key, "")
        for key in _partitions(body, self.spec.pk):
            if not key.startswith(f"TENANT#{tenant}#"):
                self.foreign.append(f"{operation} of {tenant} names {key}")


def _partitions(value: Any, pk: str) -> list[str]:
    """Every partition key anywhere in a request, those of queries too."""
    if isinstance(value, Mapping):
        texts = [
            value[name]["S"] for name in (pk, ":pk") if isinstance(value.get(name), Mapping) and "S" in value[name]
        ]
        return texts + [key for each in value.values() for key in _partitions(each, pk)]
    return [key for each in value for key in _partitions(each, pk)] if isinstance(value, list | tuple) else []
