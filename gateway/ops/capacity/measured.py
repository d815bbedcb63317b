"""Measured consumption of operations, from the gateway's log lines."""

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
class LogLine:
    """One operation; the log does not split its units, so a mutation counts as writes and everything else as reads."""

    at: float
    operation: str
    calls: int
    units: float
    writes: bool = False


@dataclass(frozen=True, slots=True)
class MeasuredOperation:
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
    """`average` covers the time from the first line to the last, `busiest` the fullest minute."""

    seconds: float
    operations: tuple[MeasuredOperation, ...]
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
    """Lines that are not operations are counted and skipped; raises `ConfigurationError` if none is."""
    operations: list[LogLine] = []
    skipped = 0
    for text in lines:
        line = _line(text)
        if line is not None:
            operations.append(line)
        elif text.strip():
            skipped += 1
    if not operations:
        raise ConfigurationError(["the log holds no operation line with time, dynamodb_calls and consumed_capacity"])
    first, last = min(line.at for line in operations), max(line.at for line in operations)
    # less than a minute is too short for a rate
    seconds = max(last - first, float(_MINUTE))
    total = _need(operations)
    busiest = list(_minutes(operations, first))
    return Measured(
        seconds,
        _operations(operations),
        Need(total.read / seconds, total.write / seconds),
        Need(max(need.read for need in busiest) / _MINUTE, max(need.write for need in busiest) / _MINUTE),
        skipped,
    )


def _line(text: str) -> LogLine | None:
    try:
        # `aws logs tail` and others write a time or a name before each line
        fields = json.loads(text[max(text.find("{"), 0) :])
        line = _operation_line(fields) if isinstance(fields, dict) else None
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    return line if line is not None and line.calls >= 0 and 0 <= line.units < inf else None


def _operation_line(fields: Mapping[str, Any]) -> LogLine:
    at = datetime.fromisoformat(fields["time"])
    return LogLine(
        (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp(),
        str(fields.get("operation") or UNNAMED),
        int(fields["dynamodb_calls"]),
        float(fields["consumed_capacity"]),
        fields.get("operation_type") == "mutation",
    )


def _need(lines: Iterable[LogLine]) -> Need:
    read = write = 0.0
    for line in lines:
        if line.writes:
            write += line.units
        else:
            read += line.units
    return Need(read, write)


def _minutes(lines: Iterable[LogLine], first: float) -> Iterator[Need]:
    minutes: dict[int, list[LogLine]] = {}
    for line in lines:
        minutes.setdefault(int((line.at - first) // _MINUTE), []).append(line)
    return map(_need, minutes.values())


def _operations(lines: Iterable[LogLine]) -> tuple[MeasuredOperation, ...]:
    by_name: dict[str, list[LogLine]] = {}
    for line in lines:
        by_name.setdefault(line.operation, []).append(line)
    operations = [
        MeasuredOperation(name, len(of_name), sum(line.calls for line in of_name), sum(line.units for line in of_name))
        for name, of_name in by_name.items()
    ]
    return tuple(sorted(operations, key=lambda operation: (-operation.units, operation.name)))
