"""Ending a task for certain."""

import asyncio
from typing import Any, Final

_REPEATED_SECONDS: Final = 0.5


async def cancel_and_wait(task: "asyncio.Task[Any]") -> None:
    """Returns once the task has ended.

    One cancellation may get lost: `asyncio.wait_for` of Python 3.11 drops it where its result comes at the same moment,
    and nats-py reports a cancelled wait as a closed connection, which a loop takes as a reason to try again.
    """
    while not task.done():
        task.cancel()
        await asyncio.wait((task,), timeout=_REPEATED_SECONDS)
