"""The log: one line for each operation (who, what, how long, how much; never a token, a variable or an item).

Lines are JSON objects and are written together: every 50 ms, when there are many, and at once when it matters. A
process that is killed loses the lines of its last 50 ms and nothing else: warnings and errors are written at once, with
all that came before them, and so is everything when the process ends by itself.
"""

import asyncio
import logging
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import msgspec
import orjson

from gateway.aws.sts.assume_role import subject_hash
from gateway.aws.sts.callers import Caller
from gateway.identity.principal import Principal
from gateway.identity.support import SupportAccess
from gateway.store.access import Access

_FULL_BYTES = 64 * 1024
_SECONDS = 0.05
_LOGGER = "gateway.operation"
# what stands between the time and the fields of an operation's line
_OPERATION = b'","level":"INFO","logger":"%b","message":"operation",' % _LOGGER.encode()
# what comes from outside is written to the log only in a form that cannot pretend to be something else
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
# a caller chooses how long a name is; a line that is too long for CloudWatch would be cut or lost, tenant and all
MAX_NAME = 100  # letters of an operation's name in a line of the log, or a label
# failures of the operator's, the worst first: one of them is the outcome whatever else went wrong
_FAILURES = ("INTERNAL", "UNAVAILABLE", "TIMEOUT", "THROTTLED")
_TRACEPARENT = re.compile(rb"00-(?P<trace>(?!0{32})[0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
_ID = 32  # hexadecimal digits of an id
_IDS_AT_ONCE = 128

OPERATIONS = logging.getLogger(_LOGGER)
WriteOperation = Callable[[dict[str, Any]], None]


def log_operation(fields: dict[str, Any]) -> None:
    """For a process that sets up logging in its own way."""
    OPERATIONS.info("operation", extra={"fields": fields})


class RequestLog(msgspec.Struct, eq=False):
    """What is known about a request; filled in while it runs."""

    request_id: str
    trace_id: str
    started: float = msgspec.field(default_factory=time.perf_counter)
    principal: Principal | None = None
    caller: Caller | None = None
    operation: str | None = None
    operation_type: str | None = None
    document: str | None = None
    access: Access | None = None
    estimate: float | None = None  # capacity units that the operation may take
    priced: bool = False  # whether the caller asked to be told its cost
    explained: bool = False  # and what was done for it
    reason: str | None = None  # why a token was refused, for us and not for the caller
    refused_grant: SupportAccess | None = None  # what the token was, if it was signed

    def identified(self, principal: Principal) -> None:
        """The token was believed; there may still be no session for its tenant."""
        self.principal = principal

    def write(self, status: int, codes: list[str], write: WriteOperation = log_operation) -> None:
        caller, principal = self.caller, self.principal
        subject = None
        if caller is not None:
            subject = caller.subject
        elif principal is not None:
            subject = subject_hash(principal.subject)
        dynamodb_calls, cached_reads, capacity = 0, 0, 0.0
        for call in self.access.calls if self.access is not None else ():
            if call.source == "cache":
                cached_reads += 1
            else:
                dynamodb_calls += 1
            capacity += call.capacity
        support = principal.support if principal is not None else self.refused_grant
        fields: dict[str, Any] = {
            "request_id": self.request_id,
            "trace_id": self.trace_id,
            "tenant": principal.tenant if principal is not None else None,
            "subject": subject,
            "role": caller.role if caller is not None else None,
            "operation": self.operation,
            "operation_type": self.operation_type,
            "document": self.document,
            "status": status,
            # each once: a page of refused fields would fill the line, and alarms look at the first few
            "codes": list(dict.fromkeys(codes)) if codes else codes,
            "outcome": outcome(codes) if codes else "OK",
            "reason": self.reason,
            "duration_ms": int((time.perf_counter() - self.started) * 1_000_000) / 1_000,
            "dynamodb_calls": dynamodb_calls,
            "cached_reads": cached_reads,
            "estimated_capacity": self.estimate,
            "consumed_capacity": capacity,
        }
        if support is not None:
            fields |= support_fields(support)
        if self.access is not None and self.access.acted_as:
            fields |= acting_fields(self.access)
        write(fields)


def acting_fields(access: Access) -> dict[str, Any]:
    """What the lines of a request have beside the others whose mutations acted in another role."""
    return {"acts_as": list(access.acted_as)}


def support_fields(support: SupportAccess) -> dict[str, str]:
    """What the lines of a request with support access have beside the others."""
    return {"actor": support.actor, "grant": support.grant_id, "grant_reason": support.reason}


def outcome(codes: Sequence[str]) -> str:
    """`OK`, or the one code that filters, alarms and metrics look at."""
    return next((code for code in _FAILURES if code in codes), codes[0]) if codes else "OK"


class RequestIds:
    """Takes over the caller's request id and W3C trace id where they are well formed, and makes all others."""

    def __init__(self) -> None:
        self._random, self._used = "", 0

    def begin(self, headers: Mapping[bytes, bytes]) -> RequestLog:
        used = self._used
        if used == len(self._random):
            self._random, used = os.urandom(_ID * _IDS_AT_ONCE).hex(), 0
        self._used = used + 2 * _ID
        request_id, trace_id = self._random[used : used + _ID], self._random[used + _ID : used + 2 * _ID]
        given = headers.get(b"x-request-id")
        if given is not None and _REQUEST_ID.fullmatch(given):
            request_id = given.decode()
        parent = headers.get(b"traceparent")
        if parent is not None and (trace := _TRACEPARENT.fullmatch(parent)):
            trace_id = trace["trace"].decode()
        return RequestLog(request_id, trace_id)


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
        self._timer_at = 0.0  # when it fires, by the clock on the wall
        self._writing = threading.Lock()
        self._second, self._second_text = 0, b""

    def add(self, line: bytes) -> None:
        """A line with its line feed; other threads may add lines too."""
        if self._append(line):
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.flush()  # nobody is there who would write it later
            return
        if self._timer_on is not loop:
            self._timer_on = loop
            self._timer_at = time.time() + _SECONDS
            loop.call_later(_SECONDS, self._on_timer, loop)

    def _append(self, line: bytes) -> bool:
        """Whether all lines are written."""
        self._lines.append(line)
        self._bytes += len(line)
        if self._bytes < _FULL_BYTES:
            return False
        self.flush()
        return True

    def add_operation(self, fields: dict[str, Any]) -> None:
        now = time.time()
        second = int(now)
        if second != self._second:
            self._second_text = time.strftime('{"time":"%Y-%m-%dT%H:%M:%S', time.gmtime(second)).encode()
            self._second = second
        written = orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)
        line = b"%b.%03dZ%b%b" % (self._second_text, (now - second) * 1_000, _OPERATION, written[1:])
        if self._timer_on is not None and self._timer_at - _SECONDS <= now < self._timer_at:
            # the timer of a moment ago writes it; which loop runs is asked less often, as it costs a system call
            self._append(line)
        else:
            self.add(line)

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
