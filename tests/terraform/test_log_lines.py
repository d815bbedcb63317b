"""The metric filters, tried on lines that the gateway's own code writes."""

import json
import logging
from collections.abc import Callable
from typing import Any

import boto3
import pytest

from gateway.errors import Forbidden, Internal, IsolationBreach
from gateway.graph.errors import failure
from gateway.graph.http.log_lines import JsonLines, RequestIds
from gateway.model.model import Model
from gateway.model.table import TableSpec
from gateway.model.tenant import tenant_id
from gateway.serving.stream import report
from gateway.store.rows import Rows
from gateway.stream.bus import InProcessBus
from gateway.stream.jetstream import BusAddress
from gateway.stream.jetstream_bus import JetStreamBus
from gateway.stream.reader import ReaderCounts
from gateway.testing.services import settings
from gateway.wiring.stream import ReaderProcess
from tests.terraform.conftest import PlanOf
from tests.terraform.log_pattern import matches

Filters = list[tuple[str, str]]


@pytest.fixture(scope="module")
def filters(plan_of: PlanOf) -> Filters:
    return _filters(plan_of, "prod")


def _filters(plan_of: PlanOf, name: str) -> Filters:
    """Metric and pattern of each; two may count into one metric."""
    found = plan_of(name).of("aws_cloudwatch_log_metric_filter").values()
    return [(each["metric_transformation"][0]["name"], each["pattern"]) for each in found]


def _lines(caplog: pytest.LogCaptureFixture, write: Callable[[], Any]) -> list[dict[str, Any]]:
    caplog.clear()
    with caplog.at_level(logging.INFO):
        write()
    return [json.loads(JsonLines().format(record)) for record in caplog.records]


def _named(filters: Filters, lines: list[dict[str, Any]]) -> set[str]:
    return {name for name, pattern in filters if any(matches(pattern, line) for line in lines)}


def test_a_breach_is_counted(filters: Filters, caplog: pytest.LogCaptureFixture) -> None:
    def write() -> None:
        try:
            raise IsolationBreach("a row of another tenant was read")
        except IsolationBreach as error:
            failure(error, "r-1")

    assert _named(filters, _lines(caplog, write)) == {"IsolationBreaches"}


def test_a_foreign_row_is_counted(filters: Filters, caplog: pytest.LogCaptureFixture) -> None:
    model = Model(domains=(), table=TableSpec())
    row = {"PK": {"S": "TENANT#globex#X"}}

    def write() -> None:
        assert Rows(model).own(tenant_id("acme"), model.table.indexes[0], [row]) == []

    assert _named(filters, _lines(caplog, write)) == {"ForeignRows"}


def test_another_failure_of_ours_is_no_breach(filters: Filters, caplog: pytest.LogCaptureFixture) -> None:
    def write() -> None:
        try:
            raise Internal("a row of a kind that nobody knows")
        except Internal as error:
            failure(error, "r-1")

    assert _named(filters, _lines(caplog, write)) == set()


@pytest.mark.parametrize("codes", [["FORBIDDEN"], ["NOT_FOUND", "FORBIDDEN"], ["A", "B", Forbidden.code]])
def test_a_denial_is_counted_wherever_it_stands(
    codes: list[str], filters: Filters, caplog: pytest.LogCaptureFixture
) -> None:
    found = _named(filters, _lines(caplog, lambda: RequestIds().begin({}).write(200, codes)))
    assert found == {"Denials", "OperationDuration"}


def test_a_refused_token_is_counted(filters: Filters, caplog: pytest.LogCaptureFixture) -> None:
    found = _named(filters, _lines(caplog, lambda: RequestIds().begin({}).write(401, ["UNAUTHENTICATED"])))
    assert found == {"RefusedTokens", "OperationDuration"}


@pytest.mark.parametrize(
    ("status", "codes"),
    [
        (503, ["UNAVAILABLE"]),
        (200, ["UNAVAILABLE"]),
        (504, ["TIMEOUT"]),
        (200, ["INTERNAL"]),
        (200, ["A", "B", "C", "D", "UNAVAILABLE"]),
    ],
)
def test_a_failed_operation_is_counted_whatever_its_status(
    status: int, codes: list[str], filters: Filters, caplog: pytest.LogCaptureFixture
) -> None:
    found = _named(filters, _lines(caplog, lambda: RequestIds().begin({}).write(status, codes)))
    assert found == {"Failures", "OperationDuration"}


@pytest.mark.parametrize(
    ("status", "codes"), [(499, ["CLIENT_CLOSED"]), (200, ["BAD_USER_INPUT"]), (503, ["THROTTLED"])]
)
def test_what_callers_do_and_what_has_alarms_of_its_own_is_no_failure(
    status: int, codes: list[str], filters: Filters, caplog: pytest.LogCaptureFixture
) -> None:
    assert _named(filters, _lines(caplog, lambda: RequestIds().begin({}).write(status, codes))) == {"OperationDuration"}


def test_an_operation_that_went_well_counts_nothing_but_its_time(
    filters: Filters, caplog: pytest.LogCaptureFixture
) -> None:
    assert _named(filters, _lines(caplog, lambda: RequestIds().begin({}).write(200, []))) == {"OperationDuration"}


def test_a_caller_cannot_fake_a_denial_by_a_name(filters: Filters, caplog: pytest.LogCaptureFixture) -> None:
    entry = RequestIds().begin({b"x-request-id": b"FORBIDDEN"})
    entry.operation = "FORBIDDEN"
    assert _named(filters, _lines(caplog, lambda: entry.write(200, []))) == {"OperationDuration"}


@pytest.mark.parametrize(
    ("logger", "metric"),
    [("gateway.sessions", "FailedSessions"), ("gateway.issuers", "UnreachableIssuers")],
)
def test_what_fails_around_the_gateway_is_counted_by_its_warning(
    logger: str, metric: str, filters: Filters, caplog: pytest.LogCaptureFixture
) -> None:
    assert _named(filters, _lines(caplog, lambda: logging.getLogger(logger).warning("no"))) == {metric}
    assert _named(filters, _lines(caplog, lambda: logging.getLogger(logger).info("yes"))) == set()


def test_what_aws_denies_is_counted_without_a_trail_too(plan_of: PlanOf, caplog: pytest.LogCaptureFixture) -> None:
    written = _lines(caplog, lambda: logging.getLogger("gateway.denied_by_aws").warning("no"))
    assert _named(_filters(plan_of, "dev"), written) == {"DeniedByAws"}
    assert any("denied-by-aws" in address for address in plan_of("dev").of("aws_cloudwatch_metric_alarm"))


def test_the_modules_that_warn_have_the_names_that_the_filters_expect() -> None:
    from gateway.aws.sts import sessions
    from gateway.graph.errors import LOG
    from gateway.identity import keyring
    from gateway.store import table

    assert (sessions._log.name, keyring._log.name) == ("gateway.sessions", "gateway.issuers")
    assert LOG.name == "gateway.failure"
    assert table._DENIED_BY_AWS.name == "gateway.denied_by_aws"


def test_a_denial_by_aws_and_a_changed_role_are_counted(filters: Filters) -> None:
    role = "arn:aws:iam::123456789012:role/gateway-prod-eu-west-1-tenant"
    session = {"sessionContext": {"sessionIssuer": {"arn": role}}}
    denied = {"eventSource": "dynamodb.amazonaws.com", "errorCode": "AccessDenied", "userIdentity": session}
    assert _named(filters, [denied]) == {"DeniedByAws"}
    other = {"sessionContext": {"sessionIssuer": {"arn": f"{role}-2"}}}
    assert _named(filters, [{**denied, "userIdentity": other}]) == set()
    assert _named(filters, [{**denied, "errorCode": "ConditionalCheckFailedException"}]) == set()
    boundary = "arn:aws:iam::123456789012:policy/gateway-prod-eu-west-1-tenant-boundary"
    for named in (
        {"roleName": "gateway-prod-eu-west-1-tenant"},
        {"roleName": "gateway-prod-eu-west-1-gateway"},
        {"policyArn": boundary},
    ):
        changed = {"eventSource": "iam.amazonaws.com", "requestParameters": named}
        assert _named(filters, [changed]) == {"RoleChanges"}
        assert _named(filters, [{**changed, "errorCode": "AccessDenied"}]) == set()
    another = {
        "eventSource": "iam.amazonaws.com",
        "requestParameters": {"roleName": "gateway-prod-eu-west-1-execution"},
    }
    assert _named(filters, [another]) == set()


def test_what_readers_of_the_stream_report_is_counted(filters: Filters, caplog: pytest.LogCaptureFixture) -> None:
    reader = ReaderProcess(settings(), TableSpec(), boto3.Session(region_name="eu-west-1"), InProcessBus())
    assert _named(filters, _lines(caplog, lambda: report(reader, ReaderCounts()))) == {"StreamShards", "StreamLag"}
    # as after a minute in which each of these happened once
    before = ReaderCounts(dropped=-1, trimmed=-1, leases_lost=-1)
    found = _named(filters, _lines(caplog, lambda: report(reader, before)))
    assert found == {"StreamShards", "StreamLag", "StreamDropped", "StreamTrimmed", "StreamLeasesLost"}


def test_a_bus_that_is_lost_is_counted(filters: Filters, caplog: pytest.LogCaptureFixture) -> None:
    bus = JetStreamBus(BusAddress(("nats://127.0.0.1:1",), "changes"))
    bus.connected = True
    assert _named(filters, _lines(caplog, lambda: bus._interrupted(OSError()))) == {"BusInterruptions"}
