"""What operations really consumed, from the gateway's own log lines."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import Any, Final

from gateway.errors import ConfigurationError
from gateway.ops.capacity.demand import Need

UNNAMED: Final = "(unnamed)"
_MINUTE: Final = 60


@dataclass(frozen=True, slots=True)
class Line:
    """One operation; the log does not split its units, so a mutation counts as writes and all else as reads."""

    at: float
    operation: str
    calls: int
    units: float
    writes: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    name: str
    count: int
    calls: float
    units: float

    @property
    def calls_each(self) -> float:
        return self.calls / self.count

    @property
    def units_each(self) -> float:
        return self.units / self.count


@dataclass(frozen=True, slots=True)
class Measured:
    """`average` over the whole time from the first line to the last, `busiest` over its fullest minute."""

    seconds: float
    operations: tuple[Operation, ...]
    average: Need
    busiest: Need
    skipped: int


def read_logs(path: Path) -> Measured:
    try:
        with path.open(encoding="utf-8", errors="replace") as lines:
            return measure(lines)
    except OSError as error:
        raise ConfigurationError([f"log file `{path}` cannot be read: {error}"]) from error


def measure(lines: Iterable[str]) -> Measured:
    """Lines that are no operations are counted and left out; `ConfigurationError` where none is one."""
    found: list[Line] = []
    skipped = 0
    for text in lines:
        line = _line(text)
        if line is not None:
            found.append(line)
        elif text.strip():
            skipped += 1
    if not found:
        raise ConfigurationError(["the log holds no operation line with time, dynamodb_calls and consumed_capacity"])
    first, last = min(line.at for line in found), max(line.at for line in found)
    # less than a minute is no basis for a rate
    seconds = max(last - first, float(_MINUTE))
    total = _need(found)
    busiest = list(_minutes(found, first))
    return Measured(
        seconds,
        _operations(found),
        Need(total.read / seconds, total.write / seconds),
        Need(max(need.read for need in busiest) / _MINUTE, max(need.write for need in busiest) / _MINUTE),
        skipped,
    )


def _line(text: str) -> Line | None:
    try:
        # `aws logs tail` and others write a time or a name before each line
        fields = json.loads(text[max(text.find("{"), 0) :])
        line = _operation_line(fields) if isinstance(fields, dict) else None
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    return line if line is not None and line.calls >= 0 and 0 <= line.units < inf else None


def _operation_line(fields: Mapping[str, Any]) -> Line:
    at = datetime.fromisoformat(fields["time"])
    return Line(
        (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp(),
        str(fields.get("operation") or UNNAMED),
        int(fields["dynamodb_calls"]),
        float(fields["consumed_capacity"]),
        fields.get("operation_type") == "mutation",
    )


def _need(lines: Iterable[Line]) -> Need:
    read = write = 0.0
    for line in lines:
        if line.writes:
            write += line.units
        else:
            read += line.units
    return Need(read, write)


def _minutes(lines: Iterable[Line], first: float) -> Iterator[Need]:
    minutes: dict[int, list[Line]] = {}
    for line in lines:
        minutes.setdefault(int((line.at - first) // _MINUTE), []).append(line)
    return map(_need, minutes.values())


def _operations(lines: Iterable[Line]) -> tuple[Operation, ...]:
    by_name: dict[str, list[Line]] = {}
    for line in lines:
        by_name.setdefault(line.operation, []).append(line)
    found = [
        Operation(name, len(each), sum(line.calls for line in each), sum(line.units for line in each))
        for name, each in by_name.items()
    ]
    return tuple(sorted(found, key=lambda operation: (-operation.units, operation.name)))
