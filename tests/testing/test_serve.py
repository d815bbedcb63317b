"""A domain of one's own under test: in memory and on the sandbox, with `with` and with `async with`."""

import threading
from typing import Any

import pytest

from gateway.aws.sts.session import PermissionsFor
from gateway.errors import BadUserInput, ConfigurationError
from gateway.iam.policies.policies import Policies
from gateway.model.model import Model
from gateway.ops.policies.files import permissions_for
from gateway.testing import GraphQLErrors, serve
from gateway.testing.serve import Backend
from tests.examples.conftest import examples

__all__ = ["examples"]

NAME = "helpdesk.domain"
OPEN = """mutation ($subject: String!) {
  createTicket(input: {subject: $subject, requester: "Ada", priority: HIGH, open: true}) {
    ticket { ticketId } errors { code } } }"""
WAITING = "{ ticketsByPriority(priority: HIGH) { nodes { subject } } }"
PERSONAL = "{ ticketsByPriority(priority: HIGH) { nodes { subject requester } } }"

each_backend = pytest.mark.parametrize("on", ["memory", "sandbox"])


@each_backend
def test_a_plain_test_writes_reads_and_counts_the_calls(on: Backend) -> None:
    with serve(NAME, on=on) as client:
        assert client.mutate(OPEN, {"subject": "First"})["createTicket"]["errors"] == []
        assert client.calls[-1] == "TransactWriteItems"
        assert client.query(WAITING) == {"ticketsByPriority": {"nodes": [{"subject": "First"}]}}
        assert client.calls == ["Query", "Query"], "one for each shard"


@each_backend
async def test_an_async_test_does_the_same(on: Backend) -> None:
    async with serve(NAME, on=on) as client:
        await client.mutate(OPEN, {"subject": "First"})
        assert await client.query(WAITING) == {"ticketsByPriority": {"nodes": [{"subject": "First"}]}}
        assert client.calls == ["Query", "Query"]


@each_backend
def test_any_tenant_is_served_and_sees_its_own_rows_only(on: Backend) -> None:
    with serve(NAME, on=on) as client:
        client.mutate(OPEN, {"subject": "First"}, tenant="umbrella")
        for tenant, count in (("umbrella", 1), ("acme", 0), ("stark", 0)):
            assert len(client.query(WAITING, tenant=tenant)["ticketsByPriority"]["nodes"]) == count


@each_backend
def test_roles_count(on: Backend) -> None:
    with serve(NAME, on=on) as client:
        client.mutate(OPEN, {"subject": "First"})
        with pytest.raises(GraphQLErrors) as refused:
            client.mutate(OPEN, {"subject": "Second"}, role="viewer")
        assert refused.value.codes == ["FORBIDDEN"]
        with pytest.raises(GraphQLErrors, match="FORBIDDEN") as hidden:
            client.query(PERSONAL, role="support")
        assert hidden.value.data is not None
        assert hidden.value.data["ticketsByPriority"]["nodes"][0]["subject"] == "First"


def test_a_role_that_the_domain_does_not_declare_is_refused_with_those_that_it_does() -> None:
    with (
        serve(NAME) as client,
        pytest.raises(BadUserInput, match=r"unknown role `customer`: use one of admin, editor, support, viewer$"),
    ):
        client.query(WAITING, role="customer")


@each_backend
def test_each_one_starts_empty_or_with_the_rows_of_the_demo(on: Backend) -> None:
    text = '{ user(userId: "u-1001") { userId } }'
    with serve("gateway.demo.commerce", on=on) as client:
        assert client.query(text) == {"user": None}
    with serve("gateway.demo.commerce", on=on, demo=True) as client:
        assert client.query(text) == {"user": {"userId": "u-1001"}}
        assert client.query(text, tenant="umbrella") == {"user": None}, "which is not a demo tenant"


def test_settings_of_the_gateway_can_be_changed() -> None:
    with serve(NAME, max_cost=1) as client, pytest.raises(GraphQLErrors, match="LIMIT_EXCEEDED"):
        client.query("{ ticketsByPriority(priority: HIGH, first: 100) { nodes { subject } } }")


@each_backend
def test_only_the_sandbox_enforces_iam_below_the_gateway(on: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gateway is made to believe that every role may do what a viewer may; the session is still the role's own."""

    def mistaken(policies: Policies, model: Model) -> PermissionsFor:
        right = permissions_for(policies, model)
        return lambda tenancy, tenant, role, subject: right(
            tenancy, tenant, "viewer" if role == "support" else role, subject
        )

    monkeypatch.setattr("gateway.app.permissions_for", mistaken)
    with serve(NAME, on=on) as client:
        client.mutate(OPEN, {"subject": "First"})
        if on == "memory":
            assert "Ada" in str(client.query(PERSONAL, role="support"))
            return
        with pytest.raises(GraphQLErrors) as refused:
            client.query(PERSONAL, role="support")
        assert "Ada" not in str(refused.value.data)


def test_what_fails_to_start_leaves_no_thread_behind() -> None:
    """The interpreter would wait for it at its end."""
    before = threading.active_count()
    with pytest.raises(ConfigurationError, match="nosuch"), serve("nosuch.domain"):
        pass
    assert threading.active_count() == before


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"max_costs": 5}, "max_costs: unknown setting: did you mean `max_cost`"),
        ({"max_cost": "a"}, "max_cost: "),
        ({"on": "sanbox"}, "on: `sanbox` is not one of memory, sandbox"),
    ],
)
def test_a_wrong_setting_is_refused(changes: Any, fault: str) -> None:
    with pytest.raises(ConfigurationError, match=fault), serve(NAME, **changes):
        pass
