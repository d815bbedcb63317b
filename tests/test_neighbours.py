"""Workers of xdist stay in a folder as long as it has tests, and nobody is idle while there are any."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.neighbours import Neighbours, folder_of

MODULES = ["tests/a/test_1.py", "tests/a/b/test_2.py", "tests/c/test_3.py", "tests/a/test_4.py", "tests/test_5.py"]


class Worker:
    """Keeps the numbers of the tests that it is given."""

    shutting_down = False
    gateway = SimpleNamespace(id="")

    def __init__(self) -> None:
        self.given: list[int] = []

    def send_runtest_some(self, numbers: list[int]) -> None:
        self.given += numbers

    def shutdown(self) -> None:
        self.shutting_down = True


def scheduled(tests: list[str], *workers: Worker) -> Neighbours:
    option = SimpleNamespace(loadscopereorder=False)
    config: Any = SimpleNamespace(getvalue=lambda name: ["popen"] * len(workers), option=option)
    made = Neighbours(config, None)
    for worker in workers:
        made.add_node(worker)
        made.add_node_collection(worker, tests)
    made.schedule()
    return made


@pytest.mark.parametrize(
    ("module", "folder"),
    [
        ("tests/graph/query/test_x.py", "tests/graph"),
        ("tests/graph/test_x.py", "tests/graph"),
        ("tests/test_x.py", "tests"),
        ("tests/cli/test_x.py", "tests"),
    ],
)
def test_all_of_a_room_is_one_folder(module: str, folder: str) -> None:
    assert folder_of(module) == folder


def test_a_worker_stays_in_its_folder_and_then_goes_where_nobody_is() -> None:
    tests = [f"{module}::test_{number}" for module in MODULES for number in range(3)]
    one, other = Worker(), Worker()
    made = scheduled(tests, one, other)
    done = 0
    while made.has_pending:
        for worker in (one, other):
            if len(worker.given) > done:
                made.mark_test_complete(worker, worker.given[done])
        done += 1
    found = [[MODULES[number // 3] for number in worker.given[::3]] for worker in (one, other)]
    assert found == [
        ["tests/a/test_1.py", "tests/a/b/test_2.py", "tests/a/test_4.py"],
        ["tests/c/test_3.py", MODULES[4]],
    ]
    assert made.tests_finished
    assert not any(made.assigned_work.values())


def test_at_the_end_a_worker_helps_in_the_folder_of_another() -> None:
    tests = [f"tests/a/test_{module}.py::test_{number}" for module in range(4) for number in range(3)]
    one, other = Worker(), Worker()
    scheduled(tests, one, other)
    assert one.given
    assert other.given
