"""Log lines: JSON objects, one a line, written together: every 50 ms, when there are many, and at once when it matters.

A process that is killed loses the lines of its last 50 ms and nothing else: warnings and errors are written at once,
with all that came before them, and so is everything when the process ends by itself.
"""

import asyncio
import logging
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

import orjson

_FULL_BYTES = 64 * 1024
_SECONDS = 0.05
_OPERATION = {"level": "INFO", "logger": "gateway.operation", "message": "operation"}

OPERATIONS = logging.getLogger(_OPERATION["logger"])
WriteOperation = Callable[[dict[str, Any]], None]


def log_operation(fields: dict[str, Any]) -> None:
    """For a process that sets up logging in its own way."""
    OPERATIONS.info("operation", extra={"fields": fields})


class JsonLines(logging.Formatter):
    """Log records as JSON objects, one a line."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S") + f".{int(record.msecs):03d}Z",
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if hasattr(record, "request_id"):
            entry["request_id"] = record.request_id
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return orjson.dumps(entry, default=str).decode()

    converter = staticmethod(time.gmtime)


class Stream(Protocol):
    """Where lines are written: standard output, or what several processes share of it."""

    def write(self, content: bytes, /) -> object: ...

    def flush(self) -> object: ...


class LogBuffer:
    """INVARIANT: lines are written in the order in which they came, whoever they came from."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._lines: list[bytes] = []
        self._bytes = 0
        self._timer_on: asyncio.AbstractEventLoop | None = None
        self._writing = threading.Lock()
        self._second, self._second_text = 0, ""

    def add(self, line: bytes) -> None:
        """A line with its line feed; other threads may add lines too."""
        self._lines.append(line)
        self._bytes += len(line)
        if self._bytes >= _FULL_BYTES:
            self.flush()
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.flush()  # nobody is there who would write it later
            return
        if self._timer_on is not loop:
            self._timer_on = loop
            loop.call_later(_SECONDS, self._on_timer, loop)

    def add_operation(self, fields: dict[str, Any]) -> None:
        now = time.time()
        second = int(now)
        if second != self._second:
            self._second_text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
            self._second = second
        line = {"time": f"{self._second_text}.{int((now - second) * 1_000):03d}Z", **_OPERATION, **fields}
        self.add(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))

    def flush(self) -> None:
        with self._writing:
            # lines may be added meanwhile, and stay for the next time
            count = len(self._lines)
            content = b"".join(self._lines[:count])
            del self._lines[:count]
            self._bytes = 0
            if content:
                try:
                    self._stream.write(content)
                    self._stream.flush()
                except (OSError, ValueError) as error:
                    # nobody reads what we write: the gateway serves on, as with logging's own handlers
                    print(f"log lines could not be written: {error}", file=sys.stderr)

    def _on_timer(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._timer_on is loop:
            self._timer_on = None
        self.flush()


class BufferedHandler(logging.Handler):
    """Puts the lines of all loggers into one buffer; `logging` flushes it when the process ends."""

    def __init__(self, buffer: LogBuffer) -> None:
        super().__init__()
        self._buffer = buffer
        self.setFormatter(JsonLines())

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._buffer.add(self.format(record).encode() + b"\n")
        except Exception:
            self.handleError(record)
        if record.levelno >= logging.WARNING:
            self._buffer.flush()

    def flush(self) -> None:
        self._buffer.flush()
