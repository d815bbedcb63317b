"""A lane answers what graphql-core answers, byte for byte, or steps back: over random documents, roles and faults.

`make equality` runs 20,000 documents; a difference is reported with its document and the command that repeats it.
"""

import argparse
import asyncio
import gc
import hashlib
import logging
import os
import random
import re
import sys
import warnings
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import repeat
from multiprocessing import get_context
from typing import Any
from unittest.mock import patch

import orjson
from graphql import OverlappingFieldsCanBeMergedRule

from gateway.aws.wire.dynamodb import DynamoDB
from gateway.errors import Throttled, Unavailable
from gateway.graph.http.endpoint import Endpoint
from gateway.graph.query.lane.fallback import Reason
from gateway.graph.query.lane.lane import LaneRules, Lanes
from gateway.graph.schema.schema import core_schema
from gateway.store import table as store_table
from gateway.store.access import Access
from gateway.store.table import Table
from tests.graph.fixtures import NOW, MemoryEndpoint, no_lanes, no_renewal
from tests.graph.query.coded_shop import coded_shop, projected_shop
from tests.graph.query.indexed_memory import IndexedMemory
from tests.graph.query.random_documents import Documents, RandomDocument, damage

ROLES = ("viewer", "viewer", "support", "admin")
RUNS = 2  # how often each document is run, with other rows and faults
# every query runs in a lane, and is not asked again once the next one comes
_RULES = LaneRules(uses=0, per_second=1e9, kept_bytes=1_000_000)
_REQUEST_ID = re.compile(rb'"requestId":"[^"]*"')


@dataclass
class Faulty(DynamoDB):
    """The table in memory, with failures that depend on what is asked alone, so that both executors meet the same."""

    memory: IndexedMemory
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


def _sparser(one: Any, other: Any) -> bool:
    """Whether `one` is `other` with null in some places."""
    if one is None or one == other:
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(_sparser(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_sparser, one, other))
    return False


def _merged(ours: tuple[int, bytes], theirs: tuple[int, bytes], *, in_lane: bool) -> bool:
    """Whether graphql-core gave up more of a damaged row than it had to.

    Its loaders read an item once, with all that its fields ask for: an attribute that is not stored as it is declared
    fails each field that reads the item, and which reads meet in one batch depends on time. They also decode the row
    behind a page, which only tells whether there are more. A lane reads for each field what it needs. That is
    seldom, and a run with many of these fails.
    """
    one, other = orjson.loads(ours[1]), orjson.loads(theirs[1])
    pairs = [(other, one)] if in_lane else [(other, one), (one, other)]
    return any(
        _sparser(sparse.get("data"), full.get("data"))
        and any(error["extensions"]["code"] == "INTERNAL" for error in sparse.get("errors", ()))
        for sparse, full in pairs
    )


def _half(answer: dict[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
    """The first key is left unprocessed, unless it is the only one."""
    [(table, request)] = body["RequestItems"].items()
    keys = request["Keys"]
    if len(keys) < 2:
        return answer
    rows = [row for row in answer["Responses"][table] if (row["PK"], row["SK"]) != (keys[0]["PK"], keys[0]["SK"])]
    left = {table: {**request, "Keys": keys[:1]}}
    return {**answer, "Responses": {table: rows}, "UnprocessedKeys": left}


@dataclass
class Findings:
    """How documents were run, and where the answers differ."""

    counts: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)  # reads that a lane made and graphql-core made again

    def add(self, other: "Findings") -> None:
        self.counts += other.counts
        self.differences += other.differences
        self.repeated += other.repeated

    def report(self) -> str:
        names = ("documents", "not run", "comparisons", "lane", "reference", "before it ran", *Reason)
        lines = [
            f"{name:<16}{self.counts[name]:>8}"
            for name in (*names, "other calls", "more calls", "merged reads", "read twice")
        ]
        return "\n".join(
            [*self.differences[:5], *self.repeated[:5], *lines, f"{'differences':<16}{len(self.differences):>8}"]
        )


class Comparison:
    """Two endpoints over one table: one has lanes, the other has graphql-core alone. They share what they understand
    of a document, since both read it as it is bound.

    Both run at the same time of the clock, and retries wait for no random time: the calls would depend on it.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.now = NOW
        self.found = Findings()
        # every other seed has indexes that do not carry whole items
        api = MemoryEndpoint(served=projected_shop() if seed % 2 == 0 else coded_shop())
        model = api.served.model
        self.memory = IndexedMemory(model.table, api.memory.name, rows=api.memory.rows)
        self.faulty = Faulty(self.memory)
        self.own = [key for key in self.memory.whole if key[0].startswith("TENANT#acme#")]
        self.random = random.Random(seed)
        self.documents = Documents(
            core_schema(api.served.schema), [self.memory.whole[key] for key in self.own], self.random
        )
        table = Table(self.faulty, model, no_renewal)
        # drawn documents keep the other rules by construction, and both endpoints would refuse them alike
        api.endpoint.documents._rules = lambda text: (OverlappingFieldsCanBeMergedRule,)
        reference = replace(api.endpoint.reference, table=table)
        lanes = Lanes(model, table, reference.cursors, reference.limits, _RULES)
        self.prepared = replace(api.endpoint, reference=reference, lanes=lanes)
        self.plain = replace(api.endpoint, reference=reference, lanes=no_lanes(api))

    async def run(self, documents: int) -> None:
        for number in range(documents):
            await self.run_one(number)

    async def run_one(self, number: int) -> None:
        """A document by its number and the seed alone, so that it can be asked again without the others."""
        self.random.seed(f"{self.seed}/{number}")
        document = self.documents.draw()
        self.found.counts["documents"] += 1
        if self.prepared.documents.get(document.text).ast is None:
            self.found.counts["not run"] += 1
            return
        token = f"acme/{self.random.choice(ROLES)}"
        try:
            for _ in range(RUNS):
                await self._compare(document, number, token)
        except Exception as error:
            error.add_note(self._again(document, number))
            raise

    def _again(self, document: RandomDocument, number: int) -> str:
        command = f"python -m tests.graph.query.equality --seed {self.seed} --document {number}"
        return f"{document.text}\n{document.variables}\nagain: {command}\n"

    async def _compare(self, document: RandomDocument, number: int, token: str) -> None:
        damaged = self._prepare_rows()
        self.faulty.salt = self.random.choice((0, 0, 0, number + 1))
        ours, our_calls = await self._answer(self.prepared, document, token)
        theirs, their_calls = await self._answer(self.plain, document, token)
        outcome = self._outcome()
        self.found.counts["comparisons"] += 1
        self.found.counts[outcome] += 1
        if self.faulty.salt and set(our_calls) != set(their_calls):
            # other calls meet other faults; what they have in common was compared without any
            self.found.counts["other calls"] += 1
        elif _equal(ours, theirs, in_lane=outcome == "lane"):
            pass
        elif damaged and _merged(ours, theirs, in_lane=outcome == "lane"):
            # the calls were the same, so both met the same faults, and what differs is the damaged row
            self.found.counts["merged reads"] += 1
        else:
            self.found.differences.append(
                f"{token}, faults {self.faulty.salt}, rows: {damaged}\n"
                f"lane ({outcome}): {ours!r}\nreference: {theirs!r}\n" + self._again(document, number)
            )
        if _reads_twice(outcome, our_calls, their_calls):
            self.found.counts["read twice"] += 1
            calls = "\n".join(f"  {call!r}" for call in our_calls if our_calls.count(call) > 1)
            self.found.repeated.append(f"read twice ({outcome}):\n{calls}\n" + self._again(document, number))
        if len(our_calls) > len(their_calls) and not self.faulty.salt:
            self.found.counts["more calls"] += 1

    def _prepare_rows(self) -> str:
        self.memory.restore()
        if self.random.random() < 0.2:
            self.memory.remove(self.random.sample(self.own, len(self.own) // 5))
            return ""
        if self.random.random() < 0.5:
            return ""
        # damage puts other values into a row; it changes none
        chosen = {key: dict(self.memory.whole[key]) for key in self.random.sample(self.own, len(self.own) // 4)}
        damaged = damage(list(chosen.values()), self.random)
        self.memory.change({key: row for key, row in chosen.items() if row != self.memory.whole[key]})
        return damaged

    async def _answer(
        self, endpoint: Endpoint, document: RandomDocument, token: str
    ) -> tuple[tuple[int, bytes], list[bytes]]:
        self.faulty.calls.clear()
        self.memory.sent.clear()
        with (
            patch.object(store_table, "full_jitter", lambda *_: 0.0),
            patch.object(Access, "now", lambda _: self.now),
        ):
            status, content = await _post(endpoint, document, token)
        return (status, _REQUEST_ID.sub(b'"requestId":""', content)), list(self.faulty.calls)

    def _outcome(self) -> str:
        counts = self.prepared.lanes.outcomes.counts
        [outcome] = [str(each) for each in counts] or ["before it ran"]
        counts.clear()
        return outcome


def _reads_twice(outcome: str, ours: list[bytes], theirs: list[bytes]) -> bool:
    """Where no lane has begun, both answers are graphql-core's own."""
    return outcome not in ("lane", "reference") and len(ours) - len(set(ours)) > len(theirs) - len(set(theirs))


async def _post(endpoint: Endpoint, document: RandomDocument, token: str) -> tuple[int, bytes]:
    body = orjson.dumps({"query": document.text, "variables": document.variables})
    headers = [(b"content-type", b"application/json"), (b"authorization", f"Bearer {token}".encode())]
    scope = {"type": "http", "method": "POST", "path": "/graphql", "query_string": b"", "headers": headers}
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    await endpoint(scope, receive, send)
    return sent[0]["status"], sent[1]["body"]


def run_many(seed: int, documents: int) -> Findings:
    """In a process of its own: what is damaged on purpose is not logged, what was imported is not collected."""
    logging.disable(logging.CRITICAL)
    # graphql-core drops what it has not begun when a sibling fails, and each dropped coroutine is complained of
    warnings.simplefilter("ignore")
    sys.unraisablehook = lambda _: None
    comparison = Comparison(seed)
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    asyncio.run(comparison.run(documents))
    return comparison.found


def run_one(seed: int, number: int) -> Findings:
    comparison = Comparison(seed)
    asyncio.run(comparison.run_one(number))
    return comparison.found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=1_000, help="for each process")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1, help="of the first process; the next one has the next")
    parser.add_argument("--document", type=int, help="only this one of the seed")
    given = parser.parse_args()
    found = Findings()
    # processes of their own, in which sets have the same order in every run
    os.environ["PYTHONHASHSEED"] = "1"
    seeds = range(given.seed, given.seed + given.processes)
    with ProcessPoolExecutor(given.processes, get_context("spawn")) as pool:
        if given.document is not None:
            found.add(pool.submit(run_one, given.seed, given.document).result())
        else:
            for each in pool.map(run_many, seeds, repeat(given.documents)):
                found.add(each)
    print(found.report())
    # one in ten thousand comparisons is what a correct lane has; a check that a lane lacks shows in hundreds
    too_many = found.counts["merged reads"] > 2 + found.counts["comparisons"] // 4_000
    raise SystemExit(bool(found.differences or found.counts["read twice"] or too_many))


if __name__ == "__main__":
    main()
