"""A domain of one's own, from outside the package: schema, policies, reads and writes, with nothing else to write."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import boto3
import pytest
from httpx2 import ASGITransport, AsyncClient
from typer.testing import CliRunner

from gateway.app import create_app
from gateway.cli.isolation_proof import prove_on_sandbox
from gateway.cli.main import app
from gateway.domains import ServedDomains, load_domains
from gateway.errors import ConfigurationError
from gateway.iam.policies.pattern_requests import questions
from gateway.iam.policies.policies import generated
from gateway.model.tenant import tenant_id
from gateway.ops.policies.files import permissions_for, unsafe_policies, write_policies
from gateway.ops.record_classes import record_classes
from gateway.sandbox.ready import Options
from gateway.sandbox.sandbox import Sandbox
from tests.demo.operations import change, query_field
from tests.graph.fixtures import MemoryEndpoint, ServedModel

NAME = "helpdesk.domain"
OPEN = """mutation ($input: CreateTicketInput!, $key: String) {
  createTicket(input: $input, idempotencyKey: $key) {
    ticket { id ticketId version open openedAt staff { displayName } } errors { code field } } }"""
CLOSE = """mutation ($id: ID!, $version: Int) {
  updateTicket(input: {ticketId: $id, open: false, version: $version}) {
    ticket { version } errors { code currentVersion } } }"""
WAITING = """query ($priority: Priority!) {
  ticketsByPriority(priority: $priority) { nodes { subject requester staff { displayName } } } }"""
STAFF = "mutation ($input: CreateStaffInput!) { createStaff(input: $input) { staff { staffId } errors { code } } }"


@pytest.fixture
def loaded() -> ServedDomains:
    return load_domains([NAME])


def api_for(served: ServedDomains) -> MemoryEndpoint:
    permissions = permissions_for(generated(served.model), served.model)
    return MemoryEndpoint(served=ServedModel(served.model, served.schema, permissions, []))


@pytest.fixture
def api(loaded: ServedDomains) -> MemoryEndpoint:
    return api_for(loaded)


def ticket(subject: str, **more: Any) -> dict[str, Any]:
    return {"subject": subject, "requester": "Ada", "priority": "HIGH", "open": True, **more}


async def staffed(api: MemoryEndpoint) -> None:
    for name, department in (("s1", "it"), ("s2", "it"), ("s3", "sales")):
        member = {"staffId": name, "displayName": name.upper(), "department": department}
        assert (await change(api, STAFF, input=member))["errors"] == []


def test_the_first_entity_takes_at_most_60_lines(examples: Path) -> None:
    texts = [(examples / "helpdesk" / name).read_text() for name in ("ticket.py", "domain.py")]
    written = [re.sub(r"from gateway import \(.*?\)\n", "", text, flags=re.DOTALL) for text in texts]
    assert sum(len(text.splitlines()) for text in written) == 57 <= 60


ASSIGN = """mutation ($ticket: ID!, $staff: ID!) {
  assignTicket(input: {ticketId: $ticket, staffId: $staff}) {
    ticket { staff { displayName } } errors { code field } } }"""


async def test_a_mutation_with_a_rule_of_its_own_works(api: MemoryEndpoint) -> None:
    await staffed(api)
    name = (await change(api, OPEN, input=ticket("First")))["ticket"]["ticketId"]
    assigned = await change(api, ASSIGN, ticket=name, staff="s1")
    assert assigned == {"ticket": {"staff": {"displayName": "S1"}}, "errors": []}
    nobody = await change(api, ASSIGN, ticket=name, staff="nobody")
    assert nobody["errors"] == [{"code": "NOT_FOUND", "field": "staffId"}]
    await change(api, CLOSE, id=name)
    late = await change(api, ASSIGN, ticket=name, staff="s1")
    assert late["errors"] == [{"code": "INVALID", "field": "ticketId"}]


FIELDS = """{ nextTickets(count: 2) { subject initials }
  staffByDepartment(department: "it") { nodes { staffId online } } }"""


async def test_the_fields_with_code_work(api: MemoryEndpoint) -> None:
    await staffed(api)
    await change(api, OPEN, input=ticket("Slow", priority="NORMAL", requester="Grace Hopper"))
    await change(api, OPEN, input=ticket("Taken", staffId="s1"))
    await change(api, OPEN, input=ticket("Down", requester="Ada Lovelace"))
    data = await api.ask(FIELDS)
    assert data["nextTickets"] == [{"subject": "Down", "initials": "AL"}, {"subject": "Slow", "initials": "GH"}]
    assert data["staffByDepartment"]["nodes"] == [{"staffId": "s1", "online": True}, {"staffId": "s2", "online": False}]
    refused = (await api.post(FIELDS, token="acme/support")).json()
    assert [ticket["initials"] for ticket in refused["data"]["nextTickets"]] == [None, None]
    assert {error["message"] for error in refused["errors"]} == {"the role `support` may not read `requester`"}


def test_the_schema_has_the_types_the_fields_and_the_mutations(loaded: ServedDomains) -> None:
    text = loaded.schema.as_str()
    for words in (
        "type Ticket implements Node {",
        "ticketsByPriority(",
        "staffByDepartment(",
        "createTicket(",
        "removeStaff(",
    ):
        assert words in text
    assert "Order" not in text


def test_the_policies_are_safe_and_hide_what_is_personal(loaded: ServedDomains) -> None:
    assert unsafe_policies(loaded.model) == []
    made = generated(loaded.model).documents["session-support.json"]
    [hidden] = [clause for clause in made["Statement"] if clause["Sid"] == "NeverHidden"]
    assert hidden["Condition"]["ForAnyValue:StringEquals"]["dynamodb:Attributes"] == ["requester"]


def test_every_pattern_is_asked_by_the_proof_of_isolation(loaded: ServedDomains) -> None:
    found = questions(loaded.model, tenant_id("acme"))
    assert {question.pattern for question in found} == set(loaded.model.patterns)
    overloaded = {question.key.pk.split("#")[2] for question in found if question.index == "GSI1"}
    assert overloaded == {"PRIORITY", "DEPARTMENT"}, "one index, two entities"


def test_the_commands_write_everything_that_is_deployed(tmp_path: Path) -> None:
    run = CliRunner()
    for command, file, words in (
        ("schema", "schema.graphql", "type Ticket"),
        ("docs", "patterns.md", "`ticketsByPriority`"),
        ("terraform-inputs", "table.json", '"hash_key": "GSI1PK"'),
    ):
        path = tmp_path / file
        arguments = [command, "--domains", NAME, "--path", str(path)]
        assert run.invoke(app, arguments).exit_code == 0
        assert words in path.read_text()
        assert run.invoke(app, [*arguments, "--check"]).exit_code == 0
    policies = tmp_path / "policies"
    directory = ["policies", "--directory", str(policies)]
    assert run.invoke(app, [*directory, "--domains", NAME]).exit_code == 0
    assert "requester" in (policies / "session-support.json").read_text()
    other = run.invoke(app, [*directory, "--domains", "gateway.demo.devices", "--check"])
    assert other.exit_code == 1, "they are not those of another domain"
    request = "GetItem PK=TENANT#acme#TICKET#1 SK=META attributes=requester"
    explained = run.invoke(
        app, ["policies", "explain", request, "--role", "support", "--tenant", "acme", "--domains", NAME]
    )
    assert "NeverHidden" in explained.output


def test_the_records_are_those_of_the_model(loaded: ServedDomains, examples: Path) -> None:
    assert (examples / "helpdesk" / "records.py").read_text() == record_classes(loaded.model), "gateway records"


async def test_tickets_are_opened_found_by_priority_and_leave_it_when_they_are_closed(api: MemoryEndpoint) -> None:
    await staffed(api)
    made = await change(api, OPEN, input=ticket("First", staffId="s1"), key="once")
    again = await change(api, OPEN, input=ticket("First", staffId="s1"), key="once")
    assert made["errors"] == []
    assert again == made
    await change(api, OPEN, input=ticket("Second"))
    await change(api, OPEN, input=ticket("Slow", priority="NORMAL"))
    waiting = (await query_field(api, WAITING, priority="HIGH"))["nodes"]
    assert waiting == [
        {"subject": "First", "requester": "Ada", "staff": {"displayName": "S1"}},
        {"subject": "Second", "requester": "Ada", "staff": None},
    ]
    assert Counter(api.calls) == {"Query": 2, "GetItem": 1}
    name = made["ticket"]["ticketId"]
    assert (await change(api, CLOSE, id=name, version=1))["ticket"] == {"version": 2}
    assert (await change(api, CLOSE, id=name, version=1))["errors"] == [{"code": "CONFLICT", "currentVersion": 2}]
    assert [node["subject"] for node in (await query_field(api, WAITING, priority="HIGH"))["nodes"]] == ["Second"]
    node = await query_field(
        api, "query ($id: ID!) { node(id: $id) { ... on Ticket { subject } } }", id=made["ticket"]["id"]
    )
    assert node == {"subject": "First"}


async def test_staff_are_found_by_department_on_the_same_index(api: MemoryEndpoint) -> None:
    await staffed(api)
    await change(api, OPEN, input=ticket("Waits"))
    found = await query_field(api, '{ staffByDepartment(department: "it") { nodes { staffId } } }')
    assert found["nodes"] == [{"staffId": "s1"}, {"staffId": "s2"}]


async def test_support_does_not_see_who_asks_and_another_tenant_sees_nothing(api: MemoryEndpoint) -> None:
    await change(api, OPEN, input=ticket("First"))
    support = (await api.post(WAITING, {"priority": "HIGH"}, "acme/support")).json()
    assert support["data"]["ticketsByPriority"]["nodes"][0]["subject"] == "First"
    assert support["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    assert "Ada" not in json.dumps(support)
    other = (await api.post(WAITING, {"priority": "HIGH"}, "globex/viewer")).json()
    assert other == {"data": {"ticketsByPriority": {"nodes": []}}}


@pytest.mark.slow
async def test_isolation_is_proved_for_the_domain(
    loaded: ServedDomains, examples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(examples))
    made = await prove_on_sandbox([NAME])
    assert made.passed
    probed = {result.probe.name.split(" by ")[0] for result in made.results if result.probe.group == "patterns"}
    assert set(loaded.model.patterns) <= probed
    assert not any(result.probe.name.startswith("activeOrders") for result in made.results)
    hidden = {result.probe.name for result in made.results if result.probe.group == "attributes"}
    assert "GetItem of `requester`" in hidden


@pytest.mark.slow
async def test_it_runs_on_the_sandbox_with_real_sessions(loaded: ServedDomains, tmp_path: Path) -> None:
    write_policies(tmp_path, loaded.model)
    with Sandbox(Options(port=0, policies=tmp_path)) as sandbox:
        keys = sandbox.ready.gateway
        aws = boto3.Session(keys.access_key, keys.secret_key, region_name=sandbox.ready.region)
        with pytest.raises(ConfigurationError, match="does not match the model"):
            create_app(sandbox.settings(domains=[NAME], policies_dir=Path("policies")), aws=aws)
        served = create_app(sandbox.settings(domains=[NAME], policies_dir=tmp_path), aws=aws)
        async with (
            served.lifespan(),
            AsyncClient(transport=ASGITransport(app=served), base_url="http://gateway") as client,
        ):

            async def post(query: str, role: str, **variables: Any) -> Any:
                headers = {"Authorization": f"Bearer {sandbox.token('acme', role)}"}
                body = {"query": query, "variables": variables}
                return (await client.post("/graphql", json=body, headers=headers)).json()

            assert (await post(OPEN, "editor", input=ticket("First")))["data"]["createTicket"]["errors"] == []
            found = await post(WAITING, "viewer", priority="HIGH")
            assert [node["subject"] for node in found["data"]["ticketsByPriority"]["nodes"]] == ["First"]
