"""The list of attacks: complete by the model, harmless by construction."""

import pytest

from gateway.demo import MODEL
from gateway.iam.dynamodb.requests import OPERATIONS
from gateway.iam.dynamodb.sample_requests import IMPOSSIBLE
from gateway.iam.policies.deployment import Deployment
from gateway.iam.policies.hidden_data import personal_attributes
from gateway.iam.policies.roles import roles_of
from gateway.model.keys import ItemKey
from gateway.model.table import TableSpec
from gateway.model.tenant import tenant_id
from gateway.ops.isolation.probe_operations import probes
from gateway.ops.isolation.probes import Probe, ProbeScene
from tests.model.build import model, thing
from tests.ops.endpoint import session

ACME, GLOBEX = tenant_id("acme"), tenant_id("globex")
PLACE = Deployment.of_role("arn:aws:iam::123456789012:role/gateway-tenant", "eu-west-1", "shop")
ROLE = {role.name: role for role in roles_of(MODEL)}


def found(role: str = "editor", rows: tuple[ItemKey, ...] = ()) -> tuple[Probe, ...]:
    return probes(ProbeScene(MODEL, PLACE, ACME, ROLE[role], GLOBEX, rows))


def test_every_pattern_every_index_and_every_operation_is_tried() -> None:
    made = found()
    names = " ".join(probe.name for probe in made)
    assert all(pattern in names for pattern in MODEL.patterns)
    for index in MODEL.table.indexes:
        assert any(probe.body.get("IndexName") == index.name and probe.expected == "denied" for probe in made)
    assert {probe.operation for probe in made} >= {
        *("GetItem", "BatchGetItem", "TransactGetItems", "Query", "Scan", "PutItem", "UpdateItem", "DeleteItem"),
        *("BatchWriteItem", "TransactWriteItems", "ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction"),
        *("SearchVectors", "GetRecords", "ExportTableToPointInTime", "CreateBackup", "PutResourcePolicy"),
    }
    assert {probe.operation for probe in made} <= set(OPERATIONS)


def test_no_name_stands_twice() -> None:
    for role in ROLE:
        names = [(probe.group, probe.name) for probe in found(role)]
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("operation", ["PutItem", "UpdateItem", "DeleteItem"])
def test_a_write_could_not_change_an_item_even_where_it_passed(operation: str) -> None:
    writes = [probe for probe in found() if probe.operation == operation]
    assert writes
    assert all(probe.body["ConditionExpression"] == IMPOSSIBLE for probe in writes)


def test_members_of_transactions_carry_the_same_guard_and_batches_touch_nothing_that_exists() -> None:
    for probe in found():
        if probe.operation == "TransactWriteItems":
            for member in probe.body["TransactItems"]:
                assert next(iter(member.values()))["ConditionExpression"] == IMPOSSIBLE
        if probe.operation == "BatchWriteItem":
            for request in probe.body["RequestItems"]["shop"]:
                assert request["DeleteRequest"]["Key"]["SK"] == {"S": "ISOLATION#PROBE"}


def test_tables_are_changed_only_where_there_is_none() -> None:
    for probe in found():
        if probe.group == "tables" and not probe.operation.startswith(("Describe", "List")):
            assert "shop" not in str(probe.body)


def test_controls_follow_the_role() -> None:
    expected = {
        role: {probe.expected for probe in found(role) if probe.group == "controls" and "Item" in probe.name.split()[1]}
        for role in ROLE
    }
    assert expected == {
        "admin": {"allowed"},
        "editor": {"allowed"},
        "customer": {"allowed"},
        "ordering": {"allowed", "denied"},
        "support": {"denied"},
        "viewer": {"denied"},
    }


def test_a_personal_attribute_finds_only_what_the_role_declares() -> None:
    """Support finds users by the address that they give, and by no other personal attribute."""
    controls = {probe.name: probe.expected for probe in found("support") if probe.group == "controls"}
    assert controls["own userByEmail by Query on GSI1"] == "allowed"
    assert controls["own userByPhone by Query on GSI1"] == "denied"


def test_the_rows_of_other_subjects_are_tried_by_sessions_that_have_one() -> None:
    for role, places in (("customer", {"USER#{subject} of", "IDEMPOTENCY#{subject}#* of"}), ("viewer", set())):
        tried = [probe for probe in found(role) if probe.group == "subjects"]
        assert {place for place in places if any(place in probe.name for probe in tried)} == places
        assert bool(tried) is bool(places)
        assert all(probe.expected == "denied" for probe in tried)
    assert any("on GSI1" in probe.name for probe in found("customer") if probe.group == "subjects")


def test_every_mutation_is_tried_with_the_rows_of_the_other_tenant_and_as_a_control() -> None:
    for role in ROLE:
        tried = {probe.name: probe.expected for probe in found(role) if probe.operation == "TransactWriteItems"}
        for mutation in MODEL.mutations:
            assert tried[f"{mutation.name}, the other tenant's rows"] == "denied"
            if MODEL.all_roles[role].writes_result(mutation):
                assert tried[f"own {mutation.name}"] == "allowed"
            elif role in ("support", "viewer"):
                assert tried[f"own {mutation.name}"] == "denied"


def test_every_pattern_and_mutation_of_owned_rows_is_tried_with_another_subject() -> None:
    owned = {name for name, entity in MODEL.entities.items() if entity.owner is not None}
    for role in ("customer", "ordering"):
        names = {probe.name for probe in found(role) if probe.group == "subjects"}
        for mutation in MODEL.mutations:
            assert (f"{mutation.name} of another subject" in names) is (mutation.returns in owned)
        for pattern in ("user", "ordersOfUser", "notificationsOfUser", "sessionsOfUser"):
            assert any(name.startswith(f"{pattern} of another subject by ") for name in names)


@pytest.mark.parametrize("role", tuple(ROLE))
def test_the_evaluator_says_of_each_mutation_what_the_probe_expects(role: str) -> None:
    """The controls are right, so a denial of the same request with other keys proves something."""
    permissions = session(role=role).permissions
    for probe in found(role):
        if probe.group in ("mutations", "subjects", "controls") and probe.expected != "harmless":
            allowed = permissions.check(probe.operation, probe.body).allowed
            assert allowed is (probe.expected == "allowed"), probe.name


def test_attributes_are_tried_only_by_a_role_that_may_not_see_them() -> None:
    tried = " ".join(probe.name for probe in found("support") if probe.group == "attributes")
    assert all(f"`{name}`" in tried for name in personal_attributes(MODEL))
    assert not any(probe.group == "attributes" for probe in found("viewer"))


def test_rows_that_exist_are_asked_for_by_their_keys() -> None:
    rows = (ItemKey("TENANT#globex#USER#u-1", "PROFILE"),)
    probes = [probe for probe in found(rows=rows) if probe.group == "rows"]
    assert {probe.operation for probe in probes} == {"GetItem", "Query", "BatchGetItem"}
    assert all("TENANT#globex#USER#u-1" in str(probe.body) for probe in probes)


def test_a_model_without_indexes_has_probes_too() -> None:
    bare = model(thing(), table=TableSpec(indexes=()))
    made = probes(ProbeScene(bare, PLACE, ACME, ROLE["editor"], GLOBEX))
    assert made
    assert not any("IndexName" in probe.body for probe in made)


@pytest.mark.parametrize("role", tuple(MODEL.roles))
def test_a_mixed_probe_is_denied_for_its_foreign_key_alone(role: str) -> None:
    """Its own keys are such as the role may read: otherwise it would be denied for them, and prove nothing."""
    [mixed] = [probe for probe in found(role) if probe.name.startswith("BatchGetItem of 100 keys")]
    [(table, request)] = mixed.body["RequestItems"].items()
    own = {"RequestItems": {table: {**request, "Keys": request["Keys"][:-1]}}}
    permissions = session(role=role).permissions
    assert permissions.check(mixed.operation, own).allowed
    assert not permissions.check(mixed.operation, mixed.body).allowed


@pytest.mark.parametrize("role", ["admin", "editor", "customer"])
def test_an_own_put_beside_a_foreign_one_is_one_that_the_role_may_make(role: str) -> None:
    [mixed] = [probe for probe in found(role) if probe.name == "TransactWriteItems, own Put and foreign Put"]
    own = {"TransactItems": mixed.body["TransactItems"][:1]}
    permissions = session(role=role).permissions
    assert permissions.check(mixed.operation, own).allowed
    assert not permissions.check(mixed.operation, mixed.body).allowed
