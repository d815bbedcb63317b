"""What every test shares: no clock of a busy machine judges, and nothing is paid for twice."""

import gc
import os
import signal
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from tests.drawn import drawn
from tests.orphans import orphans_ended
from tests.preparing import at_once, users
from tests.unmeasured import unmeasured

if TYPE_CHECKING:
    from gateway.sandbox.sandbox import Sandbox
    from tests.fixtures import MemoryGateway
    from tests.neighbours import Neighbours

# projects that tests make share what mypy knows of this package: checking it takes most of the time
os.environ["MYPY_CACHE_DIR"] = str(Path(__file__).parents[1] / ".mypy_cache" / "projects")

# what is imported stays, and the rest is short-lived: looking for garbage as often as by default takes a seventh of the
# time of the tests, and a tenth of the time to collect them
gc.set_threshold(50_000, 20, 50)

settings.register_profile("steady", deadline=None, max_examples=drawn(100, 10))
settings.load_profile("steady")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Random cases are not measured: a line that only they reach lacks a test, and measuring doubles their time."""
    for item in items:
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker("no_cover")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> "Neighbours | None":
    from tests.neighbours import Neighbours

    return Neighbours(config, log) if config.getoption("dist") == "loadscope" else None


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """pytest-cov leaves a second measurement running in the workers of xdist when it stops for `no_cover`."""
    with unmeasured() if item.get_closest_marker("no_cover") else nullcontext():
        yield


def pytest_collection_finish() -> None:
    # what is imported now stays: the collector need not look at it again, which is most of what it would look at
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _signals_reach_children() -> None:
    """Under nohup, children would inherit that a hangup is ignored."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session", autouse=True)
def _no_process_is_left() -> Iterator[None]:
    """Whatever a test starts, it ends; Linux alone tells whose children are left."""
    with orphans_ended() as waiting:
        yield
        left = []
        for path in Path("/proc/self/task").glob("*/children"):
            with suppress(FileNotFoundError):  # a thread that ends meanwhile has no children
                left += path.read_text().split()
        assert [pid for pid in left if pid != str(waiting)] == [], "a test has left processes behind"


@pytest.fixture(scope="session", autouse=True)
def _without_threads() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for user in users():
            patch.setattr(user, "in_background", at_once)
        yield


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents and lanes are prepared beside the event loop, as in production."""
    from gateway.graph.background import in_background

    for user in users():
        monkeypatch.setattr(user, "in_background", in_background)


@pytest.fixture
def frozen_heap() -> None:
    """The collector does not look at what was there before, which takes most of the time of a test that calls it."""
    gc.freeze()


@pytest.fixture
def gateway() -> "MemoryGateway":
    """The whole app in memory, with the demo shop; for other settings call `MemoryGateway(settings(...))`."""
    from tests.fixtures import MemoryGateway  # a test that needs none starts sooner without it

    return MemoryGateway()


@pytest.fixture(scope="session")
def sandbox() -> "Iterator[Sandbox]":
    """The sandbox as a process of its own, with demo rows; tests that change rows share it with all others."""
    from gateway.sandbox.ready import Options
    from gateway.sandbox.sandbox import Sandbox

    with Sandbox(Options(port=0)) as running:
        yield running
