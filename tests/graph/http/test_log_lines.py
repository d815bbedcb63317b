"""Log lines: JSON, in UTC, without anything that could be mistaken; written together, in order, and never too late."""

import asyncio
import io
import json
import logging
import subprocess
import sys
import threading
from typing import Any

import pytest

from gateway.graph.http.log_lines import BufferedHandler, JsonLines, LogBuffer, RequestIds


class Stream(io.BytesIO):
    """Knows how often it was written to."""

    def __init__(self) -> None:
        super().__init__()
        self.writes = 0

    def write(self, content: object) -> int:
        self.writes += 1
        return super().write(content)  # type: ignore[arg-type]  # bytes, here

    @property
    def lines(self) -> list[bytes]:
        return self.getvalue().splitlines()


def _line(**extra: object) -> dict[str, object]:
    record = logging.LogRecord("gateway", logging.INFO, "file", 1, "said %s", ("\nthis",), None)
    for name, value in extra.items():
        setattr(record, name, value)
    text = JsonLines().format(record)
    assert "\n" not in text
    found: dict[str, object] = json.loads(text)
    return found


def _record(level: int, message: str) -> logging.LogRecord:
    return logging.LogRecord("gateway.somewhere", level, "file", 1, message, (), None)


def test_a_record_is_one_json_line() -> None:
    line = _line(fields={"tenant": "acme"}, request_id="r-1")
    assert line["message"] == "said \nthis"
    assert (line["tenant"], line["request_id"]) == ("acme", "r-1")
    assert str(line["time"]).endswith("Z")


def test_a_lone_surrogate_does_not_cost_the_line() -> None:
    assert _line(fields={"name": "\ud800"})["name"] == "\ud800"


def test_an_exception_is_part_of_the_line() -> None:
    try:
        raise ValueError("boom")
    except ValueError:
        line = _line(exc_info=sys.exc_info())
    assert "boom" in str(line["exception"])


def test_an_operation_is_the_same_line_by_both_ways(caplog: pytest.LogCaptureFixture) -> None:
    stream, log = Stream(), RequestIds().begin({})
    buffer = LogBuffer(stream)
    with caplog.at_level(logging.INFO, "gateway.operation"):
        log.write(503, ["UNAVAILABLE"])
    log.write(503, ["UNAVAILABLE"], buffer.add_operation)
    [record] = caplog.records
    ours, theirs = json.loads(stream.lines[0]), json.loads(JsonLines().format(record))
    assert list(ours) == list(theirs)
    changing = {"time", "duration_ms"}
    assert {name: ours[name] for name in ours.keys() - changing} == {
        name: theirs[name] for name in theirs.keys() - changing
    }
    assert len(ours["time"]) == len(theirs["time"])


async def test_lines_wait_for_each_other_and_are_written_in_time() -> None:
    stream = Stream()
    buffer = LogBuffer(stream)
    for number in range(10):
        buffer.add(b"%d\n" % number)
    assert stream.writes == 0
    async with asyncio.timeout(30):
        while not stream.lines:  # noqa: ASYNC110  there is no event to wait for
            await asyncio.sleep(0.01)
    assert stream.lines == [b"%d" % number for number in range(10)]
    assert stream.writes == 1


async def test_the_timer_lapses_when_there_is_nothing_to_write(monkeypatch: pytest.MonkeyPatch) -> None:
    timers: list[Any] = []
    monkeypatch.setattr(asyncio.get_running_loop(), "call_later", lambda *given: timers.append(given))
    buffer = LogBuffer(Stream())
    buffer.add(b"one\n")
    buffer.add(b"two\n")
    assert len(timers) == 1
    _, written, *given = timers[0]
    written(*given)
    assert len(timers) == 1
    buffer.add(b"three\n")
    assert len(timers) == 2


async def test_many_lines_are_written_at_once() -> None:
    stream = Stream()
    buffer = LogBuffer(stream)
    for _ in range(65):
        buffer.add(b"x" * 1_023 + b"\n")
    assert len(stream.lines) == 64


async def test_a_warning_is_written_at_once_with_all_that_came_before_it() -> None:
    stream = Stream()
    buffer = LogBuffer(stream)
    handler = BufferedHandler(buffer)
    RequestIds().begin({}).write(200, [], buffer.add_operation)
    handler.handle(_record(logging.INFO, "between"))
    assert stream.writes == 0
    handler.handle(_record(logging.WARNING, "now"))
    assert [json.loads(line)["message"] for line in stream.lines] == ["operation", "between", "now"]


def test_without_a_loop_a_line_is_written_at_once() -> None:
    stream = Stream()
    LogBuffer(stream).add(b"start\n")
    assert stream.lines == [b"start"]


async def test_a_loop_that_has_ended_holds_nothing_back() -> None:
    stream = Stream()
    buffer = LogBuffer(stream)

    async def add() -> None:
        buffer.add(b"first\n")

    def elsewhere() -> None:
        asyncio.run(add())

    await asyncio.to_thread(elsewhere)
    assert stream.writes == 0
    buffer.add(b"second\n")
    async with asyncio.timeout(30):
        while len(stream.lines) < 2:  # noqa: ASYNC110  there is no event to wait for
            await asyncio.sleep(0.01)


async def test_threads_lose_no_line() -> None:
    stream = Stream()
    buffer = LogBuffer(stream)

    def write(name: int) -> None:
        for number in range(2_000):
            buffer.add(b"%d %d\n" % (name, number))

    threads = [threading.Thread(target=write, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for number in range(2_000):
        buffer.add(b"4 %d\n" % number)
    for thread in threads:
        thread.join()
    buffer.flush()
    for name in range(5):
        own = [int(line.split()[1]) for line in stream.lines if line.startswith(b"%d " % name)]
        assert own == list(range(2_000))


def test_a_stream_that_takes_nothing_stops_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    stream = Stream()
    buffer = LogBuffer(stream)
    stream.close()
    buffer.add(b"lost\n")
    assert "log lines could not be written" in capsys.readouterr().err


_ENDS = ["pass", "raise ZeroDivisionError", "raise SystemExit(3)", "raise KeyboardInterrupt"]
# imports once, and forks a process for each end
_PROCESSES = """
import asyncio, logging, os, sys
from gateway.serving.serve import configure_logging
async def main(end):
    write = configure_logging("INFO")
    write({"status": 200})
    logging.getLogger("gateway.x").info("last words")
    exec(end)
for number, end in enumerate(sys.argv[2:]):
    if os.fork() == 0:
        os.dup2(os.open(f"{sys.argv[1]}/{number}", os.O_CREAT | os.O_WRONLY), 1)
        asyncio.run(main(end))
        sys.exit()
    os.wait()
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What a process has written to standard output, by how it ended."""
    folder = tmp_path_factory.mktemp("ends")
    subprocess.run([sys.executable, "-c", _PROCESSES, folder, *_ENDS], stderr=subprocess.DEVNULL, check=True)
    return {end: (folder / str(number)).read_text() for number, end in enumerate(_ENDS)}


@pytest.mark.slow
@pytest.mark.parametrize("end", _ENDS)
def test_whatever_ends_the_process_its_lines_are_written(written: dict[str, str], end: str) -> None:
    assert [json.loads(line)["message"] for line in written[end].splitlines()] == ["operation", "last words"]
