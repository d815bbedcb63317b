"""Prepares documents and lanes without the thread that takes turns with the event loop.

Its turns cost more than most documents. `tests.graph.test_background` tests the thread; other tests ask for it.
"""

import asyncio
import sys
from collections.abc import Callable
from types import ModuleType
from typing import ParamSpec, TypeVar

from gateway.pacer import Pacer

_P = ParamSpec("_P")
_T = TypeVar("_T")
_USERS = ("gateway.graph.http.endpoint", "gateway.graph.query.lane.lane", "gateway.wiring.trusted_lanes")


async def at_once(pacer: Pacer, work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """In the place of `in_background`; others go first, as they do there."""
    await asyncio.sleep(0)
    return work(*args, **kwargs)


def users() -> list[ModuleType]:
    """The modules that prepare something, of those that the collected tests have imported."""
    return [sys.modules[name] for name in _USERS if name in sys.modules]
