"""The engine in memory with replicas and indexes that lag: only consistent reads show the latest writes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gateway.testing.memory import Answer, Memory, Row


@dataclass
class LaggingMemory(Memory):
    """`left` is how many more eventually consistent reads are answered as of the time when it fell behind."""

    replica: dict[tuple[str, str], Row] | None = None
    left: float = float("inf")

    def fall_behind(self, reads: float = float("inf")) -> None:
        # a write puts another row in the place of the old one
        self.replica, self.left = dict(self.rows), reads

    def _operations(self) -> dict[str, Callable[[Row], Answer]]:
        operations = super()._operations()
        for name in ("GetItem", "BatchGetItem", "Query"):
            operations[name] = self._lagging(operations[name])
        return operations

    def _lagging(self, run: Callable[[Row], Answer]) -> Callable[[Row], Answer]:
        def answer(body: Row) -> Answer:
            parts: list[Any] = [body, *body.get("RequestItems", {}).values()]
            if self.replica is None or any(part.get("ConsistentRead") for part in parts):
                return run(body)
            self.left -= 1
            if self.left < 0:
                return run(body)
            rows, self.rows = self.rows, self.replica
            try:
                return run(body)
            finally:
                self.rows = rows

        return answer
