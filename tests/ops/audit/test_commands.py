import asyncio
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from moto import mock_aws
from rich.console import Console

from gateway.demo import MODEL
from gateway.errors import ConfigurationError
from gateway.ops.audit.audit import Audit, audit, domains_of, exit_code, subject_of
from gateway.ops.audit.facts import UnknownFact
from gateway.ops.audit.gather.account import AuditedAccount
from gateway.ops.audit.gather.everything import Places
from gateway.ops.audit.results import AuditSubject, LineResult, failed, missing
from gateway.sandbox.assembly import build, engine_for
from gateway.sandbox.ready import Options, Ready
from tests.ops.audit.conftest import ACCOUNT
from tests.ops.audit.fixtures import SUBJECT, TABLE, TOPIC, client
from tests.ops.audit.fixtures import build as plant
from tests.sandbox.wire import closed, listening, serving


def run(options: Audit) -> tuple[int, str]:
    console = Console(file=io.StringIO(), width=200)
    code = audit(options, MODEL, console)
    assert isinstance(console.file, io.StringIO)
    return code, console.file.getvalue()


@contextmanager
def sandbox() -> Iterator[Ready]:
    """With its table and without rows, served from a thread."""
    options = Options(account="210987654321")
    engine = engine_for(options)
    with listening() as (found, url):
        made = asyncio.run(build(options, engine, url, lambda model, now: []))
        with serving(made.app, found):
            yield made.ready
    closed(engine)


def test_a_good_account_passes_and_a_spoilt_one_does_not(account: AuditedAccount, places: Places) -> None:
    code, text = run(Audit(SUBJECT, account, places))
    assert (code, "0 fail, 0 unknown" in text) == (0, True)
    client("dynamodb").update_table(TableName=TABLE, DeletionProtectionEnabled=False)
    code, text = run(Audit(SUBJECT, account, places, "sarif"))
    found = json.loads(text)["runs"][0]["results"]
    assert (code, [each["ruleId"] for each in found if each["kind"] == "fail"]) == (1, ["deletion-protection"])


@mock_aws
def test_defects_that_are_planted_in_an_account_are_found(places: Places) -> None:
    plant(encrypted=False)
    dynamodb, sns = client("dynamodb"), client("sns")
    dynamodb.update_table(TableName=TABLE, StreamSpecification={"StreamEnabled": False})
    dynamodb.update_continuous_backups(
        TableName=TABLE,
        PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 1},
    )
    for each in sns.list_subscriptions_by_topic(TopicArn=TOPIC)["Subscriptions"]:
        sns.unsubscribe(SubscriptionArn=each["SubscriptionArn"])
    code, text = run(Audit(SUBJECT, ACCOUNT, places, "json"))
    failing = {line["name"] for line in json.loads(text)["lines"] if line["verdict"] == "fail"}
    assert (code, failing) == (1, {"encryption", "stream", "point-in-time-recovery", "alarms"})


def test_the_sandbox_is_audited_for_what_it_has(places: Places) -> None:
    with sandbox() as ready:
        subject = AuditSubject(ready.table, ready.region, ready.role_arn)
        there = AuditedAccount(ready.region, ready.url, credentials=ready.admin)
        code, text = run(Audit(subject, there, places, "json"))
        refused = AuditedAccount(ready.region, ready.url, credentials=ready.gateway)
        with pytest.raises(ConfigurationError, match="no permission for `dynamodb:DescribeTable`"):
            run(Audit(subject, refused, places))
    verdicts = {line["name"]: line["verdict"] for line in json.loads(text)["lines"]}
    assert code == 1
    assert verdicts["table-drift"] == verdicts["ttl"] == "pass"
    assert (
        verdicts["no-scan"]
        == verdicts["alarms"]
        == verdicts["vpc-endpoint"]
        == verdicts["least-privilege"]
        == "not applicable"
    )
    assert verdicts["point-in-time-recovery"] == "fail"


def test_what_is_unknown_fails_only_where_that_is_asked_for(results: tuple[LineResult, ...]) -> None:
    unknown = [*results[1:], replace(results[0], findings=(missing(UnknownFact("why")),))]
    assert exit_code(unknown, strict=False) == 0
    assert exit_code(unknown, strict=True) == 1
    assert exit_code([replace(results[0], findings=(failed("bad", "do this"),))], strict=False) == 1


def test_lines_and_formats_that_do_not_exist_are_refused_before_anything_is_asked() -> None:
    with pytest.raises(ConfigurationError) as caught:
        run(Audit(SUBJECT, AuditedAccount("eu-west-1"), format="xml", skip=("tll",)))
    assert caught.value.faults[0].startswith("--skip: there is no line `tll`, only access-patterns,")
    assert caught.value.faults[1] == "--format: `xml` is not one of table, json, sarif"


def test_the_names_come_from_terraforms_output(tmp_path: Path) -> None:
    path = tmp_path / "gateway.json"
    role = SUBJECT.tenant_role
    settings: dict[str, Any] = {"table_name": TABLE, "region": "eu-west-1", "tenant_role_arn": role, "issuers": []}
    path.write_text(json.dumps(settings))
    assert subject_of(path) == replace(SUBJECT, gateway_role=None)
    readers = {"dax_role_arn": "reader", "silos": {"acme": {"dax_role_arn": "other", "table_name": "acme"}, "beta": {}}}
    path.write_text(json.dumps({**settings, **readers}))
    assert subject_of(path).dax_roles == {"reader", "other"}
    path.write_text(json.dumps({**settings, "gateway_role_arn": SUBJECT.gateway_role, "vpc_id": "vpc-2"}))
    assert subject_of(path) == replace(SUBJECT, vpc="vpc-2")
    assert subject_of(path, table_name="other", gateway_role_arn="role", vpc_id="vpc-1") == replace(
        SUBJECT, table="other", gateway_role="role", vpc="vpc-1"
    )


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("{}", "--table: is missing"),
        ("[]", "is not a JSON object"),
        ("no json", "cannot be read"),
        ('{"table_name": "shop", "region": ["eu-west-1"]}', "region: Input should be a valid string"),
        ('{"table_name": 5, "region": "eu-west-1"}', "table_name: Input should be a valid string"),
    ],
)
def test_a_file_without_the_names_is_refused(tmp_path: Path, content: str, fault: str) -> None:
    path = tmp_path / "gateway.json"
    path.write_text(content)
    with pytest.raises(ConfigurationError) as caught:
        subject_of(path)
    assert fault in caught.value.message


def test_the_model_is_that_of_the_domains_in_terraforms_output(tmp_path: Path) -> None:
    path = tmp_path / "gateway.json"
    path.write_text(json.dumps({"domains": ["helpdesk.domain"]}))
    assert domains_of(path) == ("helpdesk.domain",)
    assert domains_of(None) == ()


def test_without_a_file_the_names_must_be_given() -> None:
    with pytest.raises(ConfigurationError) as caught:
        subject_of(table_name="shop")
    assert caught.value.faults == ["--region: is missing"]
