"""Long computations take turns with the event loop."""

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import count
from types import FrameType

import pytest

from gateway.graph import background
from gateway.graph.background import checkpoint, in_background
from gateway.pacer import Pacer
from tests.graph.fixtures import MemoryEndpoint
from tests.graph.test_loop_holds import LARGEST, NESTED, PAGES

STEPS = 200


class Clock:
    """Each look at it takes so many seconds; no real time passes."""

    def __init__(self, step: float) -> None:
        self._ticks = count()
        self._step = step

    def __call__(self) -> float:
        return next(self._ticks) * self._step


async def turns_until_done(monkeypatch: pytest.MonkeyPatch, step: float, pacer: Pacer | None = None) -> int:
    """The turns of the loop while a computation with many checkpoints runs."""
    monkeypatch.setattr(background, "perf_counter", Clock(step))
    turns = 0
    grant = background._Slices._grant

    def counted(slices: background._Slices) -> None:
        nonlocal turns
        turns += 1
        grant(slices)

    def work() -> None:
        for _ in range(STEPS):
            checkpoint()

    with monkeypatch.context() as patch:
        patch.setattr(background._Slices, "_grant", counted)
        await in_background(pacer or Pacer(), work)
    return turns


async def test_result_and_exception_of_the_computation_are_returned() -> None:
    def fails(text: str) -> None:
        raise ValueError(text)

    assert await in_background(Pacer(), lambda: threading.current_thread() is not threading.main_thread())
    with pytest.raises(ValueError, match="why"):
        await in_background(Pacer(), fails, text="why")


async def test_the_loop_runs_between_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    # a slice has about three checkpoints by this clock
    assert await turns_until_done(monkeypatch, 0.00015) > STEPS / 10


async def test_a_busy_loop_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    idle = await turns_until_done(monkeypatch, 0.00029)
    busy = await turns_until_done(monkeypatch, 0.00031)  # the same slices, but each turn of the loop seems busy
    assert busy > 3 * idle


async def test_a_busy_loop_does_not_starve_the_computation(monkeypatch: pytest.MonkeyPatch) -> None:
    # a slice for each checkpoint, and a few turns of the loop between two slices
    assert await turns_until_done(monkeypatch, 0.0011) < STEPS * 15


class Busy(Pacer):
    """Operations that never end."""

    @property
    def active(self) -> bool:
        return True


async def test_while_operations_run_the_computation_rests_after_each_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = await turns_until_done(monkeypatch, 0.00015)
    assert await turns_until_done(monkeypatch, 0.00015, Busy()) > 3 * alone


def test_the_computation_ends_without_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "_STOPPED", 0.01)
    started, stopped, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        stopped.wait()
        for _ in range(5):
            background._thread.slices.end = 0.0
            checkpoint()
        ended.set()

    async def stop_midway() -> None:
        task = asyncio.create_task(in_background(Pacer(), work))
        await asyncio.to_thread(started.wait)
        task.cancel()

    loop = asyncio.new_event_loop()
    loop.run_until_complete(stop_midway())
    stopped.set()
    assert ended.wait(30)
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


def test_on_the_loop_a_checkpoint_does_nothing() -> None:
    checkpoint()
    assert getattr(background._thread, "slices", None) is None


class Stretches:
    """The most Python calls between two checkpoints, which do not depend on the machine."""

    def __init__(self) -> None:
        self.most = self._calls = 0

    def see(self, frame: FrameType, event: str, argument: object) -> None:
        if event != "call":
            return
        self._calls += 1
        if frame.f_code is checkpoint.__code__:
            self.most = max(self.most, self._calls)
            self._calls = 0


@pytest.fixture
def longest() -> Iterator[Callable[[Callable[[], object]], int]]:
    def measure(work: Callable[[], object]) -> int:
        stretches = Stretches()
        sys.setprofile(stretches.see)
        try:
            work()
            checkpoint()
        finally:
            sys.setprofile(None)
        return stretches.most

    yield measure
    sys.setprofile(None)


@pytest.mark.parametrize("text", [LARGEST, NESTED, PAGES], ids=["largest", "nested", "pages"])
def test_a_document_is_prepared_with_checkpoints(text: str, longest: Callable[[Callable[[], object]], int]) -> None:
    documents = MemoryEndpoint().endpoint.documents
    documents.prepare(text)  # what is remembered of the schema is remembered now
    assert longest(lambda: documents.prepare(f"{text} ")) < 17_000  # graphql-core hashes a whole operation
