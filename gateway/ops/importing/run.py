"""An import: reads rows, sends them in chunks, keeps the progress in a file, and writes rejected rows to another."""

import os
import secrets
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import orjson
from graphql import GraphQLInputObjectType
from rich.console import Console

from gateway.errors import ConfigurationError
from gateway.graph.schema.schema import build_schema, core_schema
from gateway.model.model import Model
from gateway.model.mutation import Mutation
from gateway.ops.importing.rows import Row, RowError, RowReader, chunks, digest_of
from gateway.ops.importing.sender import BearerToken, Sender
from gateway.ops.migrate.checkpoint import replace_file
from gateway.ops.migrate.progress import counted_bar
from gateway.store.write.idempotency import KEPT_SECONDS
from gateway.suggestions import closest

_PRINT_SECONDS = 5.0  # between two progress lines if there is no terminal
_MARGIN_SECONDS = 3_600
_INTERRUPTED = 130
_COUNTS = "rejected {task.fields[rejected]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """The options of `gateway import`."""

    entity: str
    source: Path
    url: str
    token: str = ""
    token_command: str | None = None
    checkpoint: Path | None = None
    rejected: Path | None = None
    parallel: int = 4
    patience: float = 300.0


@dataclass(slots=True)
class ImportProgress:
    """The progress: `rows` of the file, in order, of which `rejected` were not written."""

    digest: str
    mutation: str
    url: str
    chunk: int
    run: str
    rows: int = 0
    rejected: int = 0
    rejected_bytes: int = 0
    saved_at: float = 0.0

    def save(self, path: Path) -> None:
        self.saved_at = time.time()
        replace_file(path, orjson.dumps(asdict(self), option=orjson.OPT_INDENT_2).decode())


def import_rows(options: Import, model: Model, console: Console | None = None) -> int:
    """Returns the exit code: 0 if every row was written, 1 if some were rejected, 130 after an interruption."""
    console = console or Console()
    try:
        return _ImportRun(options, model, console).carry_out()
    except KeyboardInterrupt:
        console.print("interrupted; run the same command again to continue from here", markup=False)
        return _INTERRUPTED


class _ImportRun:
    def __init__(self, options: Import, model: Model, console: Console) -> None:
        self._options = options
        self._console = console
        self._mutation, kind = _mutation(model, options.entity)
        self._reader = RowReader(kind, is_csv=options.source.suffix.lower() == ".csv")
        self._checkpoint = options.checkpoint or options.source.with_name(f"{options.source.name}.import.json")
        self._rejected = options.rejected or options.source.with_name(f"{options.source.name}.rejected.jsonl")
        self._printed_at = time.monotonic()

    def carry_out(self) -> int:
        if not self._options.source.is_file():
            raise ConfigurationError([f"there is no file `{self._options.source}`"])
        state = self._state()
        with self._open_rejected(state) as rejected, counted_bar(self._console, _COUNTS) as bar:
            task = bar.add_task("rows", total=self._total(), completed=state.rows, rejected=state.rejected)
            for rows, errors in self._send_chunks(state):
                lines = [_line(row, own) for row, own in zip(rows, errors, strict=True) if own]
                rejected.write(b"".join(lines))
                rejected.flush()
                os.fsync(rejected.fileno())
                state.rows += len(rows)
                state.rejected += len(lines)
                state.rejected_bytes = rejected.tell()
                # INVARIANT: rows that the checkpoint counts were answered, and the rejected ones are on disk.
                state.save(self._checkpoint)
                bar.update(task, completed=state.rows, rejected=state.rejected)
                self._print(f"{state.rows} rows, {state.rejected} rejected")
        self._checkpoint.unlink(missing_ok=True)
        return self._verdict(state)

    def _send_chunks(self, state: ImportProgress) -> Iterator[tuple[list[Row], list[tuple[RowError, ...]]]]:
        """The remaining chunks, in the order of the file; some are sent at the same time."""
        options, waiting = self._options, deque[tuple[list[Row], Future[list[tuple[RowError, ...]]]]]()
        token = BearerToken(options.token, options.token_command)
        sender = Sender(options.url, self._mutation, token, options.patience)
        pool = ThreadPoolExecutor(options.parallel)
        try:
            with options.source.open(encoding="utf-8-sig", newline="") as file:
                for rows in chunks(self._left(state, self._reader.read(file)), state.chunk):
                    waiting.append((rows, pool.submit(_chunk, sender, state.run, rows)))
                    if len(waiting) >= 2 * options.parallel:
                        first, future = waiting.popleft()
                        yield first, future.result()
            while waiting:
                first, future = waiting.popleft()
                yield first, future.result()
        finally:
            pool.shutdown(cancel_futures=True)
            sender.close()

    @staticmethod
    def _left(state: ImportProgress, rows: Iterator[Row]) -> Iterator[Row]:
        return (row for row in rows if row.number > state.rows)

    def _state(self) -> ImportProgress:
        options, digest = self._options, digest_of(self._options.source)
        bulk = self._mutation.bulk
        size = bulk.max_items if bulk is not None else 1
        fresh = ImportProgress(digest, self._mutation.name, options.url, size, secrets.token_hex(8))
        if not self._checkpoint.exists():
            # before the first row is sent, so that a second run has the same keys
            fresh.save(self._checkpoint)
            return fresh
        state = _stored(self._checkpoint)
        if (state.digest, state.mutation, state.url) != (fresh.digest, fresh.mutation, fresh.url):
            another = f"`{self._checkpoint}` belongs to an import of another file, entity or gateway"
            raise ConfigurationError([f"{another}; remove it to start over"])
        if time.time() > state.saved_at + KEPT_SECONDS - _MARGIN_SECONDS:
            hours, after = KEPT_SECONDS // 3_600, f"compare the rows after {state.rows} with the table"
            old = f"`{self._checkpoint}` is too old: the gateway remembers for {hours} hours what it has written"
            raise ConfigurationError([f"{old}; {after}, and import the rest as a separate file"])
        self._console.print(f"continuing after row {state.rows}, as `{self._checkpoint}` says", highlight=False)
        return state

    def _open_rejected(self, state: ImportProgress) -> BinaryIO:
        """Truncates it to the last checkpoint; later rows are written again."""
        file = os.fdopen(os.open(self._rejected, os.O_RDWR | os.O_CREAT, 0o600), "r+b")
        file.truncate(state.rejected_bytes)
        file.seek(state.rejected_bytes)
        return file

    def _total(self) -> int:
        with self._options.source.open(encoding="utf-8-sig", newline="") as file:
            return sum(1 for _ in self._reader.read(file))

    def _print(self, line: str) -> None:
        if not self._console.is_terminal and time.monotonic() - self._printed_at >= _PRINT_SECONDS:
            self._printed_at = time.monotonic()
            self._console.print(line, highlight=False)

    def _verdict(self, state: ImportProgress) -> int:
        self._console.print(f"imported {state.rows - state.rejected} of {state.rows} rows", highlight=False)
        if not state.rejected:
            self._rejected.unlink(missing_ok=True)
            return 0
        self._console.print(f"{state.rejected} rejected rows are in {self._rejected}", highlight=False, markup=False)
        return 1


def _mutation(model: Model, entity: str) -> tuple[Mutation, GraphQLInputObjectType]:
    if entity not in model.entities:
        domains = " and ".join(domain.name for domain in model.domains)
        meant = closest(entity, model.entities)
        raise ConfigurationError([f"{domains} has no entity `{entity}`{meant}; another domain is named with --domains"])
    name = f"bulkCreate{entity}"
    mutation = next((declared for declared in model.mutations if declared.name == name), None)
    if mutation is None or mutation.bulk is None:
        raise ConfigurationError([f"there is no mutation `{name}`: declare `*bulk(create({entity.upper()}))`"])
    if mutation.bulk.atomic:
        raise ConfigurationError([f"`{name}` is atomic, so one wrong row would refuse others; leave `atomic` out"])
    kind = core_schema(build_schema(model)).type_map[f"Create{entity}Input"]
    assert isinstance(kind, GraphQLInputObjectType)  # noqa: S101  made for the mutation
    return mutation, kind


def _chunk(sender: Sender, run: str, rows: list[Row]) -> list[tuple[RowError, ...]]:
    """The errors of each row; rows with a wrong format are not sent."""
    sound = [row for row in rows if not row.errors]
    # INVARIANT: the key of a chunk is the same in every run of an import, so nothing is written twice.
    sent = sender.send(f"import-{run}-{rows[0].number}", sound) if sound else []
    errors = dict(zip((row.number for row in sound), sent, strict=True))
    return [row.errors or errors[row.number] for row in rows]


def _line(row: Row, errors: tuple[RowError, ...]) -> bytes:
    content: dict[str, Any] = {"row": row.number, "errors": [asdict(error) for error in errors], "values": row.values}
    return orjson.dumps(content, option=orjson.OPT_APPEND_NEWLINE)


def _stored(path: Path) -> ImportProgress:
    try:
        return ImportProgress(**orjson.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise ConfigurationError([f"the checkpoint `{path}` cannot be read: {error}"]) from error
