"""The metric filters, tried on lines that the gateway's own code writes."""

import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

from gateway.errors import Forbidden, Internal, IsolationBreach
from gateway.graph.errors import failure
from gateway.graph.http.log_lines import JsonLines
from gateway.graph.http.request_log import RequestIds
from tests.terraform.conftest import PlanOf
from tests.terraform.log_pattern import matches

Filters = dict[str, str]


@pytest.fixture(scope="module")
def filters(plan_of: PlanOf) -> Filters:
    return {
        each["metric_transformation"][0]["name"]: each["pattern"]
        for each in plan_of("prod").of("aws_cloudwatch_log_metric_filter").values()
    }


def _lines(caplog: pytest.LogCaptureFixture, write: Callable[[], Any]) -> list[dict[str, Any]]:
    caplog.clear()
    with caplog.at_level(logging.INFO):
        write()
    return [json.loads(JsonLines().format(record)) for record in caplog.records]


def _named(filters: Filters, lines: list[dict[str, Any]]) -> set[str]:
    return {name for name, pattern in filters.items() if any(matches(pattern, line) for line in lines)}


def test_a_breach_is_counted(filters: Filters, caplog: pytest.LogCaptureFixture) -> None:
    def write() -> None:
        try:
            raise IsolationBreach("a row of another tenant was read")
        except IsolationBreach as error:
            failure(error, "r-1")

    assert _named(filters, _lines(caplog, write)) == {"IsolationBreaches"}


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


def test_a_failed_operation_is_counted(filters: Filters, caplog: pytest.LogCaptureFixture) -> None:
    found = _named(filters, _lines(caplog, lambda: RequestIds().begin({}).write(503, ["UNAVAILABLE"])))
    assert found == {"Failures", "OperationDuration"}


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
    [("gateway.aws.sessions", "FailedSessions"), ("gateway.identity.keyring", "UnreachableIssuers")],
)
def test_what_fails_around_the_gateway_is_counted_by_its_warning(
    logger: str, metric: str, filters: Filters, caplog: pytest.LogCaptureFixture
) -> None:
    assert _named(filters, _lines(caplog, lambda: logging.getLogger(logger).warning("no"))) == {metric}
    assert _named(filters, _lines(caplog, lambda: logging.getLogger(logger).info("yes"))) == set()


def test_the_modules_that_warn_have_the_names_that_the_filters_expect() -> None:
    from gateway.aws import sessions
    from gateway.graph.errors import LOG
    from gateway.identity import keyring

    assert (sessions._log.name, keyring._log.name) == ("gateway.aws.sessions", "gateway.identity.keyring")
    assert LOG.name == "gateway.failure"


def test_a_denial_by_aws_and_a_changed_role_are_counted(filters: Filters) -> None:
    role = "arn:aws:iam::123456789012:role/gateway-prod-tenant"
    session = {"sessionContext": {"sessionIssuer": {"arn": role}}}
    denied = {"eventSource": "dynamodb.amazonaws.com", "errorCode": "AccessDenied", "userIdentity": session}
    assert _named(filters, [denied]) == {"DeniedByAws"}
    other = {"sessionContext": {"sessionIssuer": {"arn": f"{role}-2"}}}
    assert _named(filters, [{**denied, "userIdentity": other}]) == set()
    assert _named(filters, [{**denied, "errorCode": "ConditionalCheckFailedException"}]) == set()
    boundary = "arn:aws:iam::123456789012:policy/gateway-prod-tenant-boundary"
    for named in ({"roleName": "gateway-prod-tenant"}, {"roleName": "gateway-prod-gateway"}, {"policyArn": boundary}):
        changed = {"eventSource": "iam.amazonaws.com", "requestParameters": named}
        assert _named(filters, [changed]) == {"RoleChanges"}
        assert _named(filters, [{**changed, "errorCode": "AccessDenied"}]) == set()
    another = {"eventSource": "iam.amazonaws.com", "requestParameters": {"roleName": "gateway-prod-execution"}}
    assert _named(filters, [another]) == set()
