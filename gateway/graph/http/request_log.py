"""One JSON line per operation: who, what, how long, how much; never a token, a variable or an item."""

import logging
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import orjson

from gateway.aws.sts import subject_hash
from gateway.identity.principal import Principal
from gateway.store.access import Access

OPERATIONS = logging.getLogger("gateway.operation")

# what comes from outside is written to the log only in a form that cannot pretend to be something else
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
# a caller chooses how long a name is; a line that is too long for CloudWatch would be cut or lost, tenant and all
MAX_NAME = 100  # letters of an operation's name in a line of the log, or a label
_TRACEPARENT = re.compile(r"00-(?P<trace>(?!0{32})[0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")


@dataclass(slots=True)
class Entry:
    """What is known about an operation; filled in while it runs."""

    request_id: str
    trace_id: str
    started: float = field(default_factory=time.perf_counter)
    principal: Principal | None = None
    role: str | None = None
    operation: str | None = None
    operation_type: str | None = None
    document: str | None = None
    access: Access | None = None
    estimate: float | None = None  # capacity units that the operation may take
    priced: bool = False  # whether the caller asked to be told
    reason: str | None = None  # why a token was refused, for us and not for the caller

    def write(self, status: int, codes: list[str]) -> None:
        calls = self.access.calls if self.access is not None else []
        fields = {
            "request_id": self.request_id,
            "trace_id": self.trace_id,
            "tenant": self.principal.tenant if self.principal else None,
            "subject": subject_hash(self.principal.subject) if self.principal else None,
            "role": self.role,
            "operation": self.operation,
            "operation_type": self.operation_type,
            "document": self.document,
            "status": status,
            # each once: a page of refused fields would fill the line, and alarms look at the first few
            "codes": list(dict.fromkeys(codes)),
            "reason": self.reason,
            "duration_ms": round((time.perf_counter() - self.started) * 1000, 3),
            "dynamodb_calls": sum(call.source != "cache" for call in calls),
            "cached_reads": sum(call.source == "cache" for call in calls),
            "estimated_capacity": self.estimate,
            "consumed_capacity": sum(call.capacity for call in calls),
        }
        OPERATIONS.info("operation", extra={"fields": fields})


def begin(headers: Mapping[str, str]) -> Entry:
    """Takes over the caller's request id and W3C trace id where they are well formed."""
    given = headers.get("x-request-id", "")
    request_id = given if _REQUEST_ID.fullmatch(given) else uuid4().hex
    trace = _TRACEPARENT.fullmatch(headers.get("traceparent", ""))
    return Entry(request_id, trace["trace"] if trace else uuid4().hex)


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
