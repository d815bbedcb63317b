"""`gateway migrate`: shows what there is to migrate, carries it out, and verifies it."""

import asyncio
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
from gateway.ops.migrate.progress import bar, summary
from gateway.ops.migrate.row_checker import RowChecker, RowFault
from gateway.ops.migrate.scan import Pace, Walk
from gateway.ops.migrate.source import Keys, MigrationSource, OperatorCredentials
from gateway.serving.signals import ended_by_signals

Action = Literal["plan", "run", "verify"]

_MAX_SEGMENTS = 256
_INTERRUPTED = 130


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrate:
    """What `gateway migrate` is asked for; `role_arn` is a role of the operator, never the gateway's or a tenant's."""

    action: Action
    table: str = ""
    region: str = ""
    endpoint: str | None = None
    role_arn: str | None = None
    entities: tuple[str, ...] = ()
    tenant: str | None = None
    segments: int = 4
    units_per_second: float = 200
    dry_run: bool = False
    checkpoint: Path = Path("migrate.checkpoint.json")
    # for tests: whose keys are used instead of the operator's
    keys: Keys | None = field(default=None, repr=False)


def migrate(wanted: Migrate, model: Model, console: Console | None = None) -> int:
    """The exit code: 0 where all is well, 1 where something is wrong or left to do, 130 after an interruption."""
    console = console or Console()
    todo = plan(model, wanted.entities)
    _tell(console, todo)
    if wanted.action == "plan" or todo.empty:
        return 0
    _check(wanted)
    try:
        return asyncio.run(_Run(wanted, model, todo, console).carry_out())
    except (KeyboardInterrupt, asyncio.CancelledError):
        console.print("interrupted; the same command goes on from here", markup=False)
        return _INTERRUPTED


def _tell(console: Console, todo: MigrationPlan) -> None:
    if todo.empty:
        console.print("there is nothing to migrate")
    for name, reasons in todo.reasons.items():
        console.print(
            f"{name}: {', '.join(reasons) or 'nothing declared, looked through'}", markup=False, highlight=False
        )


def _check(wanted: Migrate) -> None:
    faults = [f"--{name} is needed" for name in ("table", "region") if not getattr(wanted, name)]
    if not 1 <= wanted.segments <= _MAX_SEGMENTS:
        faults.append(f"--segments lies between 1 and {_MAX_SEGMENTS}")
    if wanted.units_per_second <= 0:
        faults.append("--units-per-second must be more than nothing")
    if faults:
        raise ConfigurationError(faults)


@dataclass(frozen=True, slots=True)
class _Run:
    wanted: Migrate
    model: Model
    todo: MigrationPlan
    console: Console

    async def carry_out(self) -> int:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None  # noqa: S101  a coroutine runs in one

        with ended_by_signals(lambda: loop.call_soon_threadsafe(task.cancel)):
            return await self._carry_out()

    async def _carry_out(self) -> int:
        async with DynamoDBClient() as client:
            source = self._source(client)
            pace = Pace(self.wanted.units_per_second)
            backfill = self._backfill(source, pace)
            state = self._state()
            if self._writes and state.done:
                self._say(f"done already, says `{self.wanted.checkpoint}`: verify it, or remove the file to begin anew")
                return 0
            with bar(self.console, await self._total(source)) as shown:
                backfill.on_page = lambda: shown.show(backfill.tally)
                await self._go_through(backfill, state)
        for line in summary(backfill.tally, pace.spent):
            self._say(line)
        return self._verdict(backfill)

    @property
    def _writes(self) -> bool:
        return self.wanted.action == "run" and not self.wanted.dry_run

    def _source(self, client: DynamoDBClient) -> MigrationSource:
        wanted, region = self.wanted, self.wanted.region
        target = AwsTarget(wanted.endpoint, region) if wanted.endpoint else AwsTarget.regional("dynamodb", region)
        # INVARIANT: the gateway's settings are not read: a migration has credentials of its own or none.
        keys = wanted.keys or OperatorCredentials(boto3.Session(region_name=region), wanted.role_arn)
        return MigrationSource(client, target, wanted.table, keys)

    def _backfill(self, source: MigrationSource, pace: Pace) -> Backfill:
        tenant = None if self.wanted.tenant is None else tenant_id(self.wanted.tenant)
        verifying = self.wanted.action == "verify"
        walk = Walk(source, self.model, pace, tuple(self.todo.reasons), tenant, strong=verifying)
        return Backfill(walk, RowChecker(self.model), dry=not self._writes)

    def _state(self) -> Checkpoint:
        wanted = self.wanted
        segments = [ScanSegment() for _ in range(wanted.segments)]
        fresh = Checkpoint(wanted.table, self.todo.fingerprint, wanted.tenant, segments)
        if not self._writes:
            return fresh
        state = load(wanted.checkpoint, fresh)
        if state.begun and not state.done:
            self._say(f"going on from `{wanted.checkpoint}`, {len(state.segments)} segments")
        return state

    async def _go_through(self, backfill: Backfill, state: Checkpoint) -> None:
        if not self._writes:
            await backfill.run(state, lambda state: None)
            return
        saver = Saver(self.wanted.checkpoint)
        try:
            await backfill.run(state, saver.moved)
        finally:
            saver.save(state)

    async def _total(self, source: MigrationSource) -> int | None:
        try:
            found = await source.call("DescribeTable", {"TableName": self.wanted.table})
        except GatewayError:
            return None
        return int(found["Table"].get("ItemCount", 0)) or None

    def _verdict(self, backfill: Backfill) -> int:
        left = backfill.tally.faults[RowFault.UNREADABLE] if self._writes else backfill.tally.wrong
        if self.wanted.action == "verify":
            self._say(f"{left} are wrong: run the migration" if left else "everything is as declared: you may switch")
        elif self.wanted.dry_run:
            self._say("a dry run: nothing was written")
            return 0
        return 1 if left else 0

    def _say(self, line: str) -> None:
        self.console.print(line, markup=False, highlight=False)
