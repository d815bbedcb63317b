"""A migration: prints what changes, rewrites or compares the stored items, and prints the result."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import boto3
from rich.console import Console

from gateway.aws.wire.dynamodb import DynamoDBClient
from gateway.aws.wire.endpoint import AwsTarget
from gateway.errors import ConfigurationError, GatewayError
from gateway.model.model import Model
from gateway.model.tenant import tenant_id
from gateway.ops.migrate.backfill import Backfill
from gateway.ops.migrate.checkpoint import Checkpoint, Saver, ScanSegment, load
from gateway.ops.migrate.plan import MigrationPlan, plan
from gateway.ops.migrate.progress import counted_bar, summary
from gateway.ops.migrate.row_checker import RowChecker, RowFault
from gateway.ops.migrate.scan import Pace, Walk
from gateway.ops.migrate.source import Keys, MigrationSource, OperatorCredentials

Action = Literal["plan", "run", "verify"]
OnSignal = Callable[[Callable[[], None]], AbstractContextManager[object]]
"""Within the context, a signal that ends the process calls the function instead."""

_MAX_SEGMENTS = 256
_INTERRUPTED = 130
_COUNTS = "wrong {task.fields[wrong]}, repaired {task.fields[repaired]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrate:
    """The options of `gateway migrate`; `role_arn` is a role of the operator, never the gateway's or a tenant's."""

    action: Action
    table: str
    region: str
    endpoint: str | None
    role_arn: str | None
    entities: tuple[str, ...]
    tenant: str | None
    segments: int
    units_per_second: float
    dry_run: bool
    checkpoint: Path
    # for tests: credentials to use instead of the operator's
    keys: Keys | None = field(default=None, repr=False)


def migrate(options: Migrate, model: Model, on_signal: OnSignal, console: Console | None = None) -> int:
    """Returns the exit code: 0 for success, 1 if items are wrong or left to do, 130 after an interruption."""
    console = console or Console()
    todo = plan(model, options.entities)
    _show(console, todo)
    if options.action == "plan" or todo.empty:
        return 0
    _check(options)
    try:
        return asyncio.run(_Run(options, model, todo, console).carry_out(on_signal))
    except (KeyboardInterrupt, asyncio.CancelledError):
        console.print("interrupted; run the same command again to continue from here", markup=False)
        return _INTERRUPTED


def _show(console: Console, todo: MigrationPlan) -> None:
    if todo.empty:
        console.print("nothing to migrate")
    for name, reasons in todo.reasons.items():
        console.print(
            f"{name}: {', '.join(reasons) or 'no declared change, items are checked'}", markup=False, highlight=False
        )


def _check(options: Migrate) -> None:
    faults = [f"--{name} is needed" for name in ("table", "region") if not getattr(options, name)]
    if not 1 <= options.segments <= _MAX_SEGMENTS:
        faults.append(f"--segments must be between 1 and {_MAX_SEGMENTS}")
    if options.units_per_second <= 0:
        faults.append("--units-per-second must be greater than 0")
    if faults:
        raise ConfigurationError(faults)


@dataclass(frozen=True, slots=True)
class _Run:
    options: Migrate
    model: Model
    todo: MigrationPlan
    console: Console

    async def carry_out(self, on_signal: OnSignal) -> int:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None  # noqa: S101  a coroutine runs in one

        def cancel() -> None:
            loop.call_soon_threadsafe(task.cancel)

        with on_signal(cancel):
            return await self._carry_out()

    async def _carry_out(self) -> int:
        async with DynamoDBClient() as client:
            source = self._source(client)
            pace = Pace(self.options.units_per_second)
            backfill = self._backfill(source, pace)
            state = self._state()
            if self._writes and state.done:
                self._say(f"already done according to `{self.options.checkpoint}`: verify it, or remove the file")
                return 0
            with counted_bar(self.console, _COUNTS) as bar:
                tally, total = backfill.tally, await self._total(source)
                task = bar.add_task("items", total=total, repaired=0, wrong=0)
                backfill.on_page = lambda: bar.update(
                    task, completed=tally.scanned, repaired=tally.repaired, wrong=tally.wrong
                )
                await self._go_through(backfill, state)
        for line in summary(backfill.tally, pace.spent):
            self._say(line)
        return self._verdict(backfill)

    @property
    def _writes(self) -> bool:
        return self.options.action == "run" and not self.options.dry_run

    def _source(self, client: DynamoDBClient) -> MigrationSource:
        options, region = self.options, self.options.region
        target = AwsTarget(options.endpoint, region) if options.endpoint else AwsTarget.regional("dynamodb", region)
        # INVARIANT: the gateway's settings are not read: a migration has the operator's credentials or none.
        keys = options.keys or OperatorCredentials(boto3.Session(region_name=region), options.role_arn)
        return MigrationSource(client, target, options.table, keys)

    def _backfill(self, source: MigrationSource, pace: Pace) -> Backfill:
        tenant = None if self.options.tenant is None else tenant_id(self.options.tenant)
        verifying = self.options.action == "verify"
        walk = Walk(source, self.model, pace, tuple(self.todo.reasons), tenant, strong=verifying)
        return Backfill(walk, RowChecker(self.model), dry=not self._writes)

    def _state(self) -> Checkpoint:
        options = self.options
        segments = [ScanSegment() for _ in range(options.segments)]
        fresh = Checkpoint(options.table, self.todo.fingerprint, options.tenant, segments)
        if not self._writes:
            return fresh
        state = load(options.checkpoint, fresh)
        if state.begun and not state.done:
            self._say(f"continuing from `{options.checkpoint}`, {len(state.segments)} segments")
        return state

    async def _go_through(self, backfill: Backfill, state: Checkpoint) -> None:
        if not self._writes:
            await backfill.run(state, lambda state: None)
            return
        saver = Saver(self.options.checkpoint)
        try:
            await backfill.run(state, saver.moved)
        finally:
            saver.save(state)

    async def _total(self, source: MigrationSource) -> int | None:
        """The item count of DynamoDB, which may be hours old."""
        try:
            answer = await source.call("DescribeTable", {"TableName": self.options.table})
        except GatewayError:
            return None
        return int(answer["Table"].get("ItemCount", 0)) or None

    def _verdict(self, backfill: Backfill) -> int:
        left = backfill.tally.faults[RowFault.UNREADABLE] if self._writes else backfill.tally.wrong
        if self.options.action == "verify":
            self._say(f"{left} items are wrong: run the migration" if left else "every item is as declared")
        elif self.options.dry_run:
            self._say("dry run: nothing was written")
            return 0
        return 1 if left else 0

    def _say(self, line: str) -> None:
        self.console.print(line, markup=False, highlight=False)
