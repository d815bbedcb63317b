"""Hands the modules of one folder to one worker of xdist, as what they share is made once in every process."""

from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

# their tests share the process of the sandbox, as the modules beside the folders do
_ON_SANDBOX = frozenset({"tests/cli", "tests/demo", "tests/sandbox", "tests/serving", "tests/stream"})


def folder_of(module: str) -> str:
    """`tests/graph` for everything in it; the modules beside the folders and those on the sandbox are one folder."""
    folder = "/".join(module.split("/")[:-1][:2])
    return "tests" if folder in _ON_SANDBOX else folder


class Neighbours(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """A worker stays in its folder, then takes one where nobody works, and helps in one of the others at the end."""

    def __init__(self, config: pytest.Config, log: Any) -> None:
        super().__init__(config, log)
        self._folders: dict[WorkerController, str] = {}
        self._positions: dict[str, int] = {}

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        super().mark_test_complete(node, item_index, duration)
        scope = self._split_scope(self.registered_collections[node][item_index])
        # xdist counts all that a worker was ever given, after every test
        if all(self.assigned_work[node][scope].values()):
            del self.assigned_work[node][scope]

    def _assign_work_unit(self, node: WorkerController) -> None:
        scope = self._next_for(node)
        self._folders[node] = folder_of(scope)
        unit = self.assigned_work[node][scope] = self.workqueue.pop(scope)
        if not self._positions:
            self._positions = {test: index for index, test in enumerate(self.registered_collections[node])}
        node.send_runtest_some([self._positions[test] for test, done in unit.items() if not done])

    def _next_for(self, node: WorkerController) -> str:
        waiting: list[str] = list(self.workqueue)
        here = self._folders.get(node)
        for scope in waiting:
            if folder_of(scope) == here:
                return scope
        taken = set(self._folders.values())
        return next((scope for scope in waiting if folder_of(scope) not in taken), waiting[-1])
