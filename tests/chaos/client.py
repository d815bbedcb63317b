"""A client of the API: it asks until it has a result, on whichever gateway answers, always with the same key."""

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Any

import httpx2 as httpx

from tests.chaos.ledger import Entry, Ledger
from tests.chaos.workload import Shop, document

_ANSWER_SECONDS = 8.0
_PAUSE = (0.02, 0.2)
_PATIENCE = 60.0
_DUPLICATES = 0.15
# failures that a caller may meet here; anything else is a fault of the gateway
_PASSING = frozenset({"UNAVAILABLE", "TIMEOUT", "THROTTLED", "CONFLICT"})


class Client:
    def __init__(self, shop: Shop, token: str, urls: Sequence[str], ledger: Ledger, random: Random) -> None:
        self.shop = shop
        self._urls = tuple(urls)
        self._ledger = ledger
        self._random = random
        self._headers = {"Authorization": f"Bearer {token}"}

    def http(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(timeout=_ANSWER_SECONDS, headers=self._headers)

    async def work(self, until: asyncio.Event) -> None:
        async with self.http() as http:
            while not until.is_set():
                await self.change(http, *self.shop.next(self._random))

    async def change(self, http: httpx.AsyncClient, mutation: str, given: dict[str, Any]) -> Entry:
        entry = self._ledger.open(self.shop.tenant, mutation, given)
        attempt = self._random.randrange(len(self._urls))
        if self._random.random() < _DUPLICATES:
            # an impatient front end: the same change on both gateways at once
            await asyncio.gather(*(self._send(http, entry, url) for url in self._urls))
        give_up = asyncio.get_running_loop().time() + _PATIENCE
        while not entry.settled and asyncio.get_running_loop().time() < give_up:
            if await self._send(http, entry, self._urls[attempt % len(self._urls)]):
                break
            attempt += 1
            self._ledger.retries += 1
            # the other gateway first, then both after a pause
            await asyncio.sleep(self._random.uniform(*_PAUSE) if attempt % len(self._urls) else 0)
        if entry.acknowledged:
            self.shop.learn(mutation, given, entry.item)
        return entry

    async def _send(self, http: httpx.AsyncClient, entry: Entry, url: str) -> bool:
        """Whether there is a result."""
        variables = {"input": entry.input, "key": entry.key}
        try:
            answer = await http.post(url, json={"query": document(entry.mutation), "variables": variables})
            content = answer.json()
        except httpx.ConnectError:
            # it is being started again: nothing was sent
            return False
        except (httpx.HTTPError, ValueError):
            entry.uncertain += 1
            return False
        failures = [error["extensions"]["code"] for error in content.get("errors", ())]
        if failures or not content.get("data"):
            entry.uncertain += 1
            self._surprised(entry, [code for code in failures if code not in _PASSING], content)
            return False
        self._note(entry, content["data"][entry.mutation])
        return True

    def _note(self, entry: Entry, payload: dict[str, Any]) -> None:
        errors = payload.pop("errors")
        if errors:
            entry.refused = tuple(error["code"] for error in errors)
            self._surprised(entry, [error for error in errors if error["field"] == "idempotencyKey"], payload)
            return
        [item] = payload.values()
        if item and entry.item and _identity(item) != _identity(entry.item):
            self._ledger.surprises.append(f"{entry.mutation} {entry.key}: two answers to one key: {item}, {entry.item}")
        if item is not None and item.get("available", 0) < 0:
            self._ledger.surprises.append(f"stock of {item['productId']} was answered as {item['available']}")
        self._ledger.acknowledge(entry, item)

    def _surprised(self, entry: Entry, what: list[Any], content: Any) -> None:
        if what:
            self._ledger.surprises.append(f"{entry.mutation} {entry.input}: {content}")


def _identity(item: dict[str, Any]) -> Any:
    """A replay shows the item as it is then; what it is about stays the same."""
    return next(iter(item.values()))
