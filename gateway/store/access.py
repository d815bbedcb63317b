"""What one request may use: its tenant's session, its deadline, and the record of the calls it made."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

from gateway.aws.sessions import Session

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call:
    """One finished DynamoDB call, for the log line, the metrics and `explain`; it holds no key and no item."""

    operation: str
    index: str | None
    items: int
    capacity: float
    seconds: float
    statements: tuple[str, ...] = ()


@dataclass(slots=True)
class Access:
    session: Session
    deadline: float | None = None  # a moment of the loop's clock
    calls: list[Call] = field(default_factory=list)
    renewal: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)

    @property
    def capacity(self) -> float:
        return sum(call.capacity for call in self.calls)


async def together(jobs: list[Coroutine[Any, Any, T]]) -> list[T]:
    """Run in parallel; the first failure cancels the others and is raised as it is."""
    if len(jobs) == 1:
        return [await jobs[0]]
    tasks = [asyncio.ensure_future(job) for job in jobs]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
