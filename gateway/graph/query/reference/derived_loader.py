"""Loads fields with code for many items: one call for all items of one turn of the event loop."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

from gateway.graph.query.caller_reader import CallerReader
from gateway.graph.query.code import LoadedCode
from gateway.graph.query.reference.item_loader import RequestTasks, weak_method
from gateway.graph.query.reference.pieces import PieceLoader, Pieces
from gateway.store.access import Access

Values = Mapping[str, Any]


class DerivedLoader:
    def __init__(self, caller: CallerReader, access: Access, tasks: RequestTasks, pieces: Pieces) -> None:
        self._caller = caller
        self._access = access
        self._tasks = tasks
        self._pieces = pieces
        self._loaders: dict[tuple[LoadedCode, str], PieceLoader[Values, Any]] = {}

    async def load(self, code: LoadedCode, values: Values, arguments: Values) -> Any:
        """Returns the field of one item; raises the error of this item."""
        key = (code, repr(sorted(arguments.items())))
        loader = self._loaders.get(key)
        if loader is None:
            load: Any = partial(weak_method(self._load), code, arguments)
            loader = self._loaders[key] = PieceLoader(load, self._pieces, cache=False)
        return await loader.load(values)

    async def _load(self, code: LoadedCode, arguments: Values, rows: list[Values]) -> list[Any]:
        self._tasks.track(asyncio.current_task())
        return await code.values(self._caller, self._access, rows, arguments)
