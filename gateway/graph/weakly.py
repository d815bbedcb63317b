"""Loaders that do not hold their reader: they would keep each other, and all that was read, for the collector."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar
from weakref import WeakMethod

T = TypeVar("T")


def weakly(load: Callable[..., Coroutine[Any, Any, T]]) -> Callable[..., Coroutine[Any, Any, T]]:
    """The method, as long as its object lives."""
    held = WeakMethod(load)

    async def loaded(*wanted: Any) -> T:
        alive = held()
        if alive is None:
            raise asyncio.CancelledError
        return await alive(*wanted)

    return loaded
