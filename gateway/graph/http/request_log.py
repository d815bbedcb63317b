"""One JSON line per operation: who, what, how long, how much; never a token, a variable or an item."""

import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gateway.aws.callers import Caller
from gateway.aws.sts import subject_hash
from gateway.graph.http.log_lines import WriteOperation, log_operation
from gateway.identity.principal import Principal
from gateway.store.access import Access

# what comes from outside is written to the log only in a form that cannot pretend to be something else
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
# a caller chooses how long a name is; a line that is too long for CloudWatch would be cut or lost, tenant and all
MAX_NAME = 100  # letters of an operation's name in a line of the log, or a label
# failures of the operator's, the worst first: one of them is the outcome whatever else went wrong
_FAILURES = ("INTERNAL", "UNAVAILABLE", "TIMEOUT", "THROTTLED")
_TRACEPARENT = re.compile(rb"00-(?P<trace>(?!0{32})[0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
_ID = 32  # hexadecimal digits of an id
_IDS_AT_ONCE = 128


@dataclass(slots=True)
class RequestLog:
    """What is known about a request; filled in while it runs."""

    request_id: str
    trace_id: str
    started: float = field(default_factory=time.perf_counter)
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

    def identified(self, principal: Principal) -> None:
        """The token was believed; there may still be no session for its tenant."""
        self.principal = principal

    def write(self, status: int, codes: list[str], write: WriteOperation = log_operation) -> None:
        caller, principal = self.caller, self.principal
        dynamodb_calls, cached_reads, capacity = 0, 0, 0.0
        for call in self.access.calls if self.access is not None else ():
            if call.source == "cache":
                cached_reads += 1
            else:
                dynamodb_calls += 1
            capacity += call.capacity
        write(
            {
                "request_id": self.request_id,
                "trace_id": self.trace_id,
                "tenant": principal.tenant if principal is not None else None,
                "subject": _subject(caller, principal),
                "role": caller.role if caller is not None else None,
                "operation": self.operation,
                "operation_type": self.operation_type,
                "document": self.document,
                "status": status,
                # each once: a page of refused fields would fill the line, and alarms look at the first few
                "codes": list(dict.fromkeys(codes)),
                "outcome": outcome(codes),
                "reason": self.reason,
                "duration_ms": round((time.perf_counter() - self.started) * 1000, 3),
                "dynamodb_calls": dynamodb_calls,
                "cached_reads": cached_reads,
                "estimated_capacity": self.estimate,
                "consumed_capacity": capacity,
            }
        )


def outcome(codes: Sequence[str]) -> str:
    """`OK`, or the one code that filters, alarms and metrics look at."""
    return next((code for code in _FAILURES if code in codes), codes[0]) if codes else "OK"


def _subject(caller: Caller | None, principal: Principal | None) -> str | None:
    if caller is not None:
        return caller.subject
    return subject_hash(principal.subject) if principal is not None else None


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
