"""The log: one line per operation (who, what, how long, how much; never a token, a variable or an item).

Lines are JSON objects. They are buffered for 50 ms, or until there are many. Warnings and errors are written
immediately, together with all earlier lines. A process that is killed loses at most the lines of its last 50 ms; a
process that exits by itself writes everything.
"""

import asyncio
import json
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
# between the time and the fields in the line of an operation
_OPERATION = b'","level":"INFO","logger":"%b","message":"operation",' % _LOGGER.encode()
# values from outside are logged only if they match these patterns, so that they cannot forge log content
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
# callers choose the length of a name; CloudWatch would cut or drop a line that is too long, including the tenant
MAX_NAME = 100  # characters of an operation's name in a log line or a label
# failures on the operator's side, worst first: if one is present, it is the outcome
_FAILURES = ("INTERNAL", "UNAVAILABLE", "TIMEOUT", "THROTTLED")
_TRACEPARENT = re.compile(rb"00-(?P<trace>(?!0{32})[0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
_ID = 32  # hexadecimal digits
_IDS_AT_ONCE = 128

OPERATIONS = logging.getLogger(_LOGGER)
WriteOperation = Callable[[dict[str, Any]], None]


def log_operation(fields: dict[str, Any]) -> None:
    """Writes the line through `logging`, for a process that configures logging itself."""
    OPERATIONS.info("operation", extra={"fields": fields})


class RequestLog(msgspec.Struct, eq=False):
    """What is known about a request; filled in as it runs."""

    request_id: str
    trace_id: str
    started: float = msgspec.field(default_factory=time.perf_counter)
    principal: Principal | None = None
    caller: Caller | None = None
    operation: str | None = None
    operation_type: str | None = None
    document: str | None = None
    access: Access | None = None
    estimate: float | None = None  # capacity units that the operation may use
    priced: bool = False  # whether the caller asked for the cost
    explained: bool = False  # whether the caller asked for `extensions.explain`
    reason: str | None = None  # why a token was refused; not shown to the caller
    refused_grant: SupportAccess | None = None  # the support grant of a refused token, if its signature was valid

    def identified(self, principal: Principal) -> None:
        """Called when the token was verified; opening a session for its tenant may still fail."""
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
            # without duplicates: a page of refused fields would fill the line, and alarms look at the first few
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
    """Additional fields for requests whose mutations acted in another role."""
    return {"acts_as": list(access.acted_as)}


def support_fields(support: SupportAccess) -> dict[str, str]:
    """Additional fields for requests with support access."""
    return {"actor": support.actor, "grant": support.grant_id, "grant_reason": support.reason}


def outcome(codes: Sequence[str]) -> str:
    """Returns `OK`, or the one code that filters, alarms and metrics use."""
    return next((code for code in _FAILURES if code in codes), codes[0]) if codes else "OK"


class RequestIds:
    """Adopts the caller's request id and W3C trace id if they are well-formed, and generates them otherwise."""

    def __init__(self) -> None:
        self._random, self._used = "", 0

    def begin(self, headers: Mapping[bytes, bytes]) -> RequestLog:
        used = self._used
        if used == len(self._random):
            self._random, used = os.urandom(_ID * _IDS_AT_ONCE).hex(), 0
        self._used = used + 2 * _ID
        request_id, trace_id = self._random[used : used + _ID], self._random[used + _ID : used + 2 * _ID]
        sent_id = headers.get(b"x-request-id")
        if sent_id is not None and _REQUEST_ID.fullmatch(sent_id):
            request_id = sent_id.decode()
        parent = headers.get(b"traceparent")
        if parent is not None and (trace := _TRACEPARENT.fullmatch(parent)):
            trace_id = trace["trace"].decode()
        return RequestLog(request_id, trace_id)


class JsonLines(logging.Formatter):
    """Formats log records as JSON objects, one per line."""

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
        try:
            return orjson.dumps(entry, default=str).decode()
        except orjson.JSONEncodeError:
            return json.dumps(entry, default=str)  # it also writes lone surrogates, as escapes

    converter = staticmethod(time.gmtime)


class Stream(Protocol):
    """Where lines are written: standard output, or a process's share of it."""

    def write(self, content: bytes, /) -> object: ...

    def flush(self) -> object: ...


class LogBuffer:
    """Collects lines and writes them in batches.

    INVARIANT: lines are written in the order in which they were added, from any thread.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._lines: list[bytes] = []
        self._bytes = 0
        self._timer_on: asyncio.AbstractEventLoop | None = None
        self._timer_at = 0.0  # when it fires, by the wall clock
        self._writing = threading.Lock()
        self._second, self._second_text = 0, b""

    def add(self, line: bytes) -> None:
        """Adds a line that ends with a line feed; safe to call from other threads."""
        if self._append(line):
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.flush()  # no event loop runs that could write it later
            return
        if self._timer_on is not loop:
            self._timer_on = loop
            self._timer_at = time.time() + _SECONDS
            loop.call_later(_SECONDS, self._on_timer, loop)

    def _append(self, line: bytes) -> bool:
        """Appends the line; returns whether all lines must be written now."""
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
            # a timer that was started just now writes it; this avoids asking for the running loop, a system call
            self._append(line)
        else:
            self.add(line)

    def flush(self) -> None:
        with self._writing:
            # lines that are added during the write stay for the next one
            count = len(self._lines)
            content = b"".join(self._lines[:count])
            del self._lines[:count]
            self._bytes = 0
            if content:
                try:
                    self._stream.write(content)
                    self._stream.flush()
                except (OSError, ValueError) as error:
                    # output is closed or full: continue to serve, as the handlers of `logging` do
                    print(f"log lines could not be written: {error}", file=sys.stderr)

    def _on_timer(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._timer_on is loop:
            self._timer_on = None
        self.flush()


class BufferedHandler(logging.Handler):
    """Puts the lines of all loggers into one buffer; `logging` flushes it at exit."""

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
