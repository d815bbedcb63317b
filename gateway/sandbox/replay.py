"""Idempotent transactions for an engine that has none: the same client token writes once."""

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from gateway.sandbox.engine import Answer
from gateway.sandbox.wire import AwsFault

# how long DynamoDB remembers a client token
_SECONDS = 600.0


class _Done(NamedTuple):
    digest: str
    answer: Answer
    until: float


class Replays:
    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._done: dict[str, _Done] = {}

    def run(self, body: Mapping[str, Any], write: Callable[[], Answer]) -> Answer:
        token = body.get("ClientRequestToken")
        if not isinstance(token, str):
            return write()
        now = self._clock()
        self._done = {name: done for name, done in self._done.items() if done.until > now}
        digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
        known = self._done.get(token)
        if known is None:
            answer = write()
            if answer.ok:
                self._done[token] = _Done(digest, answer, now + _SECONDS)
            return answer
        if known.digest != digest:
            raise AwsFault(
                "IdempotentParameterMismatchException",
                "Request is a replay of a previous request with different parameters",
            )
        return known.answer
