"""The progress of a run in a file, so that the run can continue after any interruption."""

import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec

from gateway.errors import ConfigurationError

_FORM = 1
_SAVE_SECONDS = 2.0


@dataclass(slots=True)
class ScanSegment:
    """A segment of the scan, done up to `start`."""

    start: dict[str, Any] | None = None
    done: bool = False


@dataclass(slots=True)
class Checkpoint:
    """The table, the fingerprint of the target model, and the progress of each segment."""

    table: str
    fingerprint: str
    tenant: str | None
    segments: list[ScanSegment]

    @property
    def done(self) -> bool:
        return all(segment.done for segment in self.segments)

    @property
    def begun(self) -> bool:
        return any(segment.done or segment.start for segment in self.segments)


def load(path: Path, expected: Checkpoint) -> Checkpoint:
    """The stored checkpoint if there is one; raises `ConfigurationError` if it belongs to another migration."""
    if not path.exists():
        return expected
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        stored, form = msgspec.convert(content, Checkpoint), content["form"]
    except (OSError, ValueError, KeyError) as error:
        raise ConfigurationError([f"checkpoint `{path}` cannot be read: {error}"]) from error
    same = (stored.table, stored.fingerprint, stored.tenant) == (expected.table, expected.fingerprint, expected.tenant)
    if form != _FORM or not same:
        raise ConfigurationError(
            [f"checkpoint `{path}` belongs to another migration; finish that one, or remove the file"]
        )
    return stored


def save(path: Path, state: Checkpoint) -> None:
    replace_file(path, json.dumps({"form": _FORM, **asdict(state)}, indent=1))


def replace_file(path: Path, text: str) -> None:
    """Replaces the file atomically: the old content stays until the new one is on disk."""
    waiting = path.with_name(f"{path.name}.new")
    path.parent.mkdir(parents=True, exist_ok=True)
    # it contains keys, and a key can contain an e-mail address
    with os.fdopen(os.open(waiting, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    waiting.replace(path)


@dataclass(slots=True)
class Saver:
    """Saves progress at most every few seconds, because each save waits for the disk."""

    path: Path
    seconds: float = _SAVE_SECONDS
    clock: Callable[[], float] = time.monotonic
    _saved_at: float = float("-inf")

    def moved(self, state: Checkpoint) -> None:
        if state.done or self.clock() - self._saved_at >= self.seconds:
            self.save(state)

    def save(self, state: Checkpoint) -> None:
        if state.begun:
            save(self.path, state)
            self._saved_at = self.clock()
