"""A lane answers what graphql-core answers, byte for byte, or steps back: over random documents, roles and faults.

`python -m tests.graph.query.equality --documents 20000` runs many; a difference is told with its seed.
"""

import argparse
import asyncio
import copy
import hashlib
import random
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from gateway.aws.dynamodb import DynamoDB
from gateway.errors import Throttled, Unavailable
from gateway.graph.query.lane.lane import Lanes
from gateway.graph.query.lane.step_back import Reason
from gateway.graph.schema import core_schema
from gateway.store.table import Table
from tests.graph.query.random_documents import Documents, RandomDocument, damage
from tests.graph.world import IN_LANES, SCHEMA, World, no_lanes, no_renewal
from tests.store.memory import Memory

ROLES = ("viewer", "viewer", "support", "admin")
_REQUEST_ID = re.compile(rb'"requestId":"[^"]*"')


@dataclass
class Faulty(DynamoDB):
    """The table in memory, with failures that depend on what is asked alone, so that both executors meet the same."""

    memory: Memory
    salt: int = 0  # no failures where it is 0
    calls: list[bytes] = field(default_factory=list)

    async def call(self, operation: str, body: Mapping[str, Any], **how: Any) -> dict[str, Any]:
        content = orjson.dumps(body)
        self.calls.append(content)
        chance = hashlib.sha256(content + str(self.salt).encode()).digest()[0] if self.salt else 255
        if chance < 10:
            raise Unavailable("aws is not reachable")
        if chance < 20:
            raise Throttled("too many requests")
        answer = await self.memory.call(operation, body, **how)
        if operation == "BatchGetItem" and chance < 80:
            return _half(answer, body)
        return answer


def _equal(ours: tuple[int, bytes], theirs: tuple[int, bytes], *, in_lane: bool) -> bool:
    """Byte for byte. What ran in graphql-core both times may give up other fields first, and tell of other errors."""
    if in_lane or ours == theirs:
        return ours == theirs
    one, other = orjson.loads(ours[1]), orjson.loads(theirs[1])
    return one.get("data") == other.get("data") and bool(one.get("errors")) == bool(other.get("errors"))


def _half(answer: dict[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
    """The first key is left unprocessed, unless it is the only one."""
    [(table, wanted)] = body["RequestItems"].items()
    keys = wanted["Keys"]
    if len(keys) < 2:
        return answer
    rows = [row for row in answer["Responses"][table] if (row["PK"], row["SK"]) != (keys[0]["PK"], keys[0]["SK"])]
    left = {table: {**wanted, "Keys": keys[:1]}}
    return {**answer, "Responses": {table: rows}, "UnprocessedKeys": left}


@dataclass
class Comparison:
    seed: int
    counts: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.world = World()
        self.plain = World()
        self.whole = dict(self.world.memory.rows)
        rows = [copy.deepcopy(row) for row in self.whole.values() if row["PK"]["S"].startswith("TENANT#acme#")]
        self.documents = Documents(core_schema(SCHEMA), rows, self.random)
        self.faulty = Faulty(self.world.memory)
        table = Table(self.faulty, self.world.setting.model, no_renewal)
        for world in (self.world, self.plain):
            reference = replace(world.endpoint.reference, table=table)
            world.endpoint = replace(world.endpoint, reference=reference)
        self.plain.endpoint = replace(self.plain.endpoint, lanes=no_lanes(self.plain))
        reference = self.world.endpoint.reference
        lanes = Lanes(reference.model, table, reference.cursors, reference.limits, IN_LANES)
        self.world.endpoint = replace(self.world.endpoint, lanes=lanes)

    async def run(self, documents: int) -> None:
        for number in range(documents):
            document = self.documents.draw()
            if self.world.endpoint.documents.get(document.text).ast is None:
                self.counts["refused"] += 1
                continue
            for _ in range(2):
                await self._compare(document, number)

    async def _compare(self, document: RandomDocument, number: int) -> None:
        told = self._prepare_rows()
        token = f"acme/{self.random.choice(ROLES)}"
        self.faulty.salt = self.random.choice((0, 0, 0, number + 1))
        ours, our_calls = await self._answer(self.world, document, token)
        theirs, their_calls = await self._answer(self.plain, document, token)
        outcome = self._outcome()
        self.counts[outcome] += 1
        if self.faulty.salt and set(our_calls) != set(their_calls):
            # other calls meet other faults; what they have in common was compared without any
            self.counts["other calls"] += 1
        elif not _equal(ours, theirs, in_lane=outcome == "lane"):
            self.differences.append(
                f"seed {self.seed}, document {number}, {token}, faults {self.faulty.salt}, rows: {told}\n"
                f"{document.text}\n{document.variables}\nlane ({outcome}): {ours!r}\nreference: {theirs!r}"
            )
        repeated = len(our_calls) - len(set(our_calls))
        if outcome != "lane" and repeated > len(their_calls) - len(set(their_calls)):
            self.counts["read twice"] += 1
        if len(our_calls) > len(their_calls) and not self.faulty.salt:
            self.counts["more calls"] += 1

    def _prepare_rows(self) -> str:
        rows = self.world.memory.rows
        rows.clear()
        rows.update(self.whole)
        if self.random.random() < 0.6:
            return ""
        own = [key for key in self.whole if key[0].startswith("TENANT#acme#")]
        chosen = {key: copy.deepcopy(self.whole[key]) for key in self.random.sample(own, len(own) // 4)}
        rows.update(chosen)
        return damage(list(chosen.values()), self.random)

    async def _answer(
        self, world: World, document: RandomDocument, token: str
    ) -> tuple[tuple[int, bytes], list[bytes]]:
        self.faulty.calls.clear()
        response = await world.post(document.text, document.variables, token)
        return (response.status_code, _REQUEST_ID.sub(b'"requestId":""', response.content)), list(self.faulty.calls)

    def _outcome(self) -> str:
        counts = self.world.lanes
        self.world.endpoint.lanes.outcomes.counts.clear()
        [outcome] = counts or {"before it ran": 1}
        return outcome

    def report(self) -> str:
        total = sum(self.counts[name] for name in ("lane", "reference", *Reason))
        lines = [f"{name:<16}{count:>8}" for name, count in self.counts.most_common()]
        return "\n".join([f"{total} comparisons, {len(self.differences)} differences", *lines])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    comparison = Comparison(given.seed)
    asyncio.run(comparison.run(given.documents))
    print("\n\n".join(comparison.differences[:5]))
    print(comparison.report())
    raise SystemExit(bool(comparison.differences))


if __name__ == "__main__":
    main()
