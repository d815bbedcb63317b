"""`gateway migrate` from the command to the table, over HTTP, with policies that are enforced."""

import asyncio
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from rich.console import Console

from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.errors import AccessDenied, TableMissing
from gateway.errors import BadUserInput, ConfigurationError
from gateway.model.model import Model
from gateway.ops.migrate.run import Migrate, migrate
from gateway.ops.migrate.source import Keys, OperatorCredentials
from gateway.sandbox.iam_sandbox import IamSandbox
from gateway.serving.signals import ended_by_signals
from tests.ops.migrate.whole import new_row
from tests.store.growing import NEW, OLD, old_rows

COUNT = 6
OPTIONS: dict[str, Any] = {
    "action": "run",
    "table": "",
    "region": "",
    "endpoint": None,
    "role_arn": None,
    "entities": (),
    "tenant": None,
    "segments": 4,
    "units_per_second": 100,
    "dry_run": False,
    "checkpoint": Path("migrate.checkpoint.json"),
}
_MIGRATION = ["Scan", "GetItem", "PutItem", "UpdateItem", "DescribeTable"]


@dataclass(frozen=True)
class Given(Keys):
    keys: Credentials

    async def credentials(self) -> Credentials:
        return self.keys


@pytest.fixture(scope="module")
def iam_sandbox() -> Iterator[IamSandbox]:
    with IamSandbox() as made:
        yield made


@pytest.fixture(scope="module")
def client(iam_sandbox: IamSandbox) -> Any:
    return iam_sandbox.client("dynamodb", iam_sandbox.admin)


@dataclass
class Migration:
    iam_sandbox: IamSandbox
    client: Any
    table: str
    checkpoint: Path

    def put(self, rows: list[dict[str, Any]]) -> None:
        self.client.batch_write_item(RequestItems={self.table: [{"PutRequest": {"Item": row}} for row in rows]})

    def rows(self) -> dict[tuple[str, str], Any]:
        found = self.client.scan(TableName=self.table)["Items"]
        return {(row["PK"]["S"], row["SK"]["S"]): row for row in found}

    def run(self, action: Any = "run", model: Model = NEW, **changes: Any) -> tuple[int, str]:
        given: dict[str, Any] = {
            "table": self.table,
            "region": self.iam_sandbox.region,
            "endpoint": self.iam_sandbox.url,
            "keys": Given(self.iam_sandbox.admin),
            "checkpoint": self.checkpoint,
            "units_per_second": 1e6,
            "segments": 2,
        }
        said = io.StringIO()
        code = migrate(
            Migrate(**{**OPTIONS, **given, **changes, "action": action}),
            model,
            ended_by_signals,
            Console(file=said, width=200),
        )
        return code, said.getvalue()


@pytest.fixture
def migration(iam_sandbox: IamSandbox, client: Any, request: pytest.FixtureRequest, tmp_path: Path) -> Migration:
    made = Migration(iam_sandbox, client, f"t-{abs(hash(request.node.name))}", tmp_path / "checkpoint")
    client.create_table(**NEW.table.create_request(made.table))
    made.put(old_rows(COUNT))
    return made


def expected() -> dict[tuple[str, str], Any]:
    rows = [row for number in range(COUNT) for row in new_row(number)]
    return {(row["PK"]["S"], row["SK"]["S"]): row for row in rows}


def test_plan_backfill_verify_switch(migration: Migration) -> None:
    code, said = migration.run("plan")
    assert (code, said) == (0, "Ticket: schema 2, `GSI2` moves between 2 and 4 shards, `GSI1` is being filled\n")
    before = migration.rows()
    code, said = migration.run("verify")
    assert code == 1
    assert f"{2 * COUNT} stored by an older schema" in said
    code, said = migration.run(dry_run=True)
    assert code == 0
    assert "nothing was written" in said
    assert migration.rows() == before
    assert not migration.checkpoint.exists()
    code, said = migration.run()
    assert code == 0
    assert f"repaired {COUNT}" in said
    assert migration.rows() == expected()
    code, said = migration.run("verify")
    assert code == 0
    assert "every item is as declared" in said
    code, said = migration.run()
    assert code == 0
    assert "already done" in said


def test_what_cannot_be_read_is_reported_and_left(migration: Migration) -> None:
    broken = {**old_rows(1)[0], "state": {"S": "LOST"}}
    migration.put([broken])
    code, said = migration.run()
    assert code == 1
    assert "not touched: 1 x Ticket: `state` of Ticket is not stored as it is declared" in said
    assert migration.rows()["TENANT#acme#TICKET#t000", "META"] == broken


def test_where_there_is_nothing_to_do_no_table_is_needed() -> None:
    said = io.StringIO()
    assert migrate(Migrate(**OPTIONS), OLD, ended_by_signals, Console(file=said)) == 0
    assert said.getvalue() == "nothing to migrate\n"


@pytest.mark.parametrize("changes", [{"table": ""}, {"region": ""}, {"segments": 0}, {"units_per_second": 0}])
def test_what_is_asked_for_wrongly_is_refused(changes: dict[str, Any]) -> None:
    migrate_options = Migrate(**{**OPTIONS, "table": "app", "region": "eu-west-1", **changes})
    with pytest.raises(ConfigurationError):
        migrate(migrate_options, NEW, ended_by_signals, Console(file=io.StringIO()))


def test_what_does_not_exist_is_reported(migration: Migration) -> None:
    with pytest.raises(BadUserInput):
        migration.run(tenant="Not A Tenant")
    with pytest.raises(TableMissing):
        migration.run(table="another-table")


def test_an_interruption_is_reported_with_how_to_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(work: Any) -> None:
        work.close()
        raise KeyboardInterrupt

    monkeypatch.setattr(asyncio, "run", interrupted)
    said = io.StringIO()
    migrate_options = Migrate(**{**OPTIONS, "table": "app", "region": "eu-west-1"})
    assert migrate(migrate_options, NEW, ended_by_signals, Console(file=said)) == 130
    assert "run the same command again" in said.getvalue()


def test_it_goes_on_from_a_checkpoint_and_shows_a_bar_to_who_watches(migration: Migration) -> None:
    migration.run()
    text = migration.checkpoint.read_text().replace('"done": true', '"done": false', 1)
    start = '{"PK": {"S": "TENANT#acme#TICKET#t001"}, "SK": {"S": "META"}}'
    migration.checkpoint.write_text(text.replace('"start": null', f'"start": {start}', 1))
    said = io.StringIO()
    options = {
        **OPTIONS,
        "table": migration.table,
        "region": migration.iam_sandbox.region,
        "endpoint": migration.iam_sandbox.url,
    }
    migrate_options = Migrate(
        **{**options, "keys": Given(migration.iam_sandbox.admin), "checkpoint": migration.checkpoint}
    )
    assert migrate(migrate_options, NEW, ended_by_signals, Console(file=said, width=200, force_terminal=True)) == 0
    assert "continuing from" in said.getvalue()
    assert "repaired 0" in said.getvalue()


_SLOWLY = """
import sys
from pathlib import Path
from gateway.serving.signals import ended_by_signals
from gateway.ops.migrate.run import Migrate, migrate
from tests.ops.migrate.test_run import OPTIONS
from tests.store.growing import NEW
table, region, url, checkpoint = sys.argv[1:]
print("begun", flush=True)
options = {**OPTIONS, "table": table, "region": region, "endpoint": url, "checkpoint": Path(checkpoint)}
sys.exit(migrate(Migrate(**{**options, "units_per_second": 0.2, "segments": 8}), NEW, ended_by_signals))
"""


def _begun_slowly(migration: Migration) -> "subprocess.Popen[str]":
    """A run in a process of its own that has saved where it is, and has more to do."""
    keys = migration.iam_sandbox.admin
    given = {"AWS_ACCESS_KEY_ID": keys.access_key, "AWS_SECRET_ACCESS_KEY": keys.secret_key}
    running = subprocess.Popen(
        [
            sys.executable,
            "-c",
            _SLOWLY,
            migration.table,
            migration.iam_sandbox.region,
            migration.iam_sandbox.url,
            str(migration.checkpoint),
        ],
        env={**{name: value for name, value in os.environ.items() if not name.startswith("AWS_")}, **given},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    end = time.monotonic() + 60
    while not migration.checkpoint.exists():
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < end
        time.sleep(0.05)
    return running


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_whatever_stops_it_the_same_command_goes_on(migration: Migration, number: int) -> None:
    running = _begun_slowly(migration)
    running.send_signal(number)
    said, _ = running.communicate(timeout=60)
    if number != signal.SIGKILL:
        assert running.returncode == 130
        assert "interrupted; run the same command again to continue from here" in said
    assert "Traceback" not in said
    code, said = migration.run(segments=8)
    assert code == 0
    assert "continuing from" in said
    assert migration.rows() == expected()


@pytest.mark.slow
def test_a_second_ctrl_c_prints_no_traceback(migration: Migration) -> None:
    running = _begun_slowly(migration)
    for _ in range(2):
        running.send_signal(signal.SIGINT)
    said, _ = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "Traceback" not in said


def _operator(migration: Migration, actions: list[str]) -> OperatorCredentials:
    """One who assumes a role for migrations that may do these things."""
    statement = {
        "Effect": "Allow",
        "Action": [f"dynamodb:{action}" for action in actions],
        "Resource": migration.iam_sandbox.table_arn(migration.table),
    }
    arn = migration.iam_sandbox.role(f"migrate-{migration.table}", {"Version": "2012-10-17", "Statement": statement})
    keys = migration.iam_sandbox.application
    session = boto3.Session(
        aws_access_key_id=keys.access_key,
        aws_secret_access_key=keys.secret_key,
        region_name=migration.iam_sandbox.region,
    )
    return OperatorCredentials(session, arn, migration.iam_sandbox.url)


def test_a_role_of_the_operator_is_assumed(migration: Migration) -> None:
    code, said = migration.run(keys=_operator(migration, _MIGRATION))
    assert (code, "repaired" in said) == (0, True)
    assert migration.rows() == expected()


def test_without_describe_table_there_is_no_total_and_all_the_same_work(migration: Migration) -> None:
    assert migration.run(keys=_operator(migration, _MIGRATION[:-1]))[0] == 0
    assert migration.rows() == expected()


def test_an_operator_that_may_not_scan_does_not_migrate(migration: Migration) -> None:
    with pytest.raises(AccessDenied):
        migration.run(keys=_operator(migration, _MIGRATION[1:]))


async def test_an_assumed_role_is_kept_until_it_is_about_to_end(iam_sandbox: IamSandbox) -> None:
    statement = {"Effect": "Allow", "Action": "dynamodb:Scan", "Resource": "*"}
    arn = iam_sandbox.role("clocked", {"Version": "2012-10-17", "Statement": statement})
    keys = iam_sandbox.application
    session = boto3.Session(
        aws_access_key_id=keys.access_key, aws_secret_access_key=keys.secret_key, region_name=iam_sandbox.region
    )
    now = [0.0]
    operator = OperatorCredentials(session, arn, iam_sandbox.url, clock=lambda: now[0])
    first = await operator.credentials()
    assert await operator.credentials() == first
    now[0] = first.expires_at - 200
    assert (await operator.credentials()).access_key != first.access_key


async def test_a_role_that_cannot_be_assumed_is_reported(iam_sandbox: IamSandbox) -> None:
    keys = iam_sandbox.application
    session = boto3.Session(
        aws_access_key_id=keys.access_key, aws_secret_access_key=keys.secret_key, region_name=iam_sandbox.region
    )
    with pytest.raises(ConfigurationError, match="cannot be assumed") as caught:
        await OperatorCredentials(session, "arn:aws:iam::123456789012:role/none", iam_sandbox.url).credentials()
    assert isinstance(caught.value.__cause__, ClientError)


async def test_ones_own_credentials_are_used_where_no_role_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    session = boto3.Session(aws_access_key_id="AKIDMINE", aws_secret_access_key="mine", region_name="eu-west-1")
    assert (await OperatorCredentials(session).credentials()).access_key == "AKIDMINE"
    monkeypatch.setattr(session, "get_credentials", lambda: None)
    with pytest.raises(ConfigurationError, match="no AWS credentials"):
        await OperatorCredentials(session).credentials()


def test_the_operators_credentials_are_the_default(migration: Migration, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the environment, as boto3 finds them; the gateway's settings are not even read."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", migration.iam_sandbox.admin.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", migration.iam_sandbox.admin.secret_key)
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    monkeypatch.setenv("GATEWAY_TABLE_NAME", "not this one")
    assert migration.run(keys=None)[0] == 0
    assert migration.rows() == expected()


def test_options_do_not_show_their_keys() -> None:
    assert "AKID" not in repr(replace(Migrate(**OPTIONS), keys=Given(Credentials("AKID", "secret"))))
