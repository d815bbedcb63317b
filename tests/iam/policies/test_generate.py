"""The documents follow the model: what is added there cannot be forgotten here."""

from typing import Any

import botocore.session
import pytest

from gateway.demo import MODEL
from gateway.iam.language.document import PolicyDocument, parse
from gateway.iam.policies.deployment import LONGEST, render
from gateway.iam.policies.generate import LIMITS, documents, kind_of, lengths, oversized, session_file
from gateway.iam.policies.review import EVERY_ACTION
from gateway.iam.policies.roles import ITEM_ACTIONS, READS, WRITES, roles_of
from gateway.iam.policies.statements import OWN_KEYS, STREAM_READS
from gateway.model.entity import Attribute
from gateway.model.model import Model
from gateway.model.table import Index, TableSpec
from gateway.model.tenant import TenantId, partition
from gateway.model.types import KeyString, Text
from tests.model.build import ATTRIBUTES, model, on, thing

# Operations whose authorisation is that of other actions.
_COMPOSED = {
    "TransactGetItems",
    "TransactWriteItems",
    "ExecuteStatement",
    "BatchExecuteStatement",
    "ExecuteTransaction",
}


def clauses(made: Model, name: str) -> dict[str, dict[str, Any]]:
    return {clause["Sid"]: clause for clause in documents(made)[name]["Statement"]}


def parsed(name: str) -> PolicyDocument:
    return parse(render(documents(MODEL)[name], LONGEST), kind_of(name))


def personal(*names: str) -> Model:
    added = tuple(Attribute(name, KeyString(), "About a person.", personal=True) for name in names)
    by_first = (on(pk=f"PERSON#{{{names[0]}}}", sk="{thingId}"),) if names else ()
    return model(thing(attributes=(*ATTRIBUTES, *added), indexes=by_first))


def test_every_file_has_a_kind_and_every_role_a_session_policy() -> None:
    assert {session_file(role) for role in tuple(MODEL.all_roles)} <= set(documents(MODEL))
    assert tuple(MODEL.all_roles) == ("admin", "editor", "support", "viewer", "customer", "ordering")


def test_a_new_personal_attribute_is_hidden_from_support() -> None:
    before = clauses(personal("birthday"), "session-support.json")["NeverHidden"]
    after = clauses(personal("birthday", "taxId"), "session-support.json")["NeverHidden"]
    assert before["Condition"]["ForAnyValue:StringEquals"]["dynamodb:Attributes"] == ["birthday"]
    assert after["Condition"]["ForAnyValue:StringEquals"]["dynamodb:Attributes"] == ["birthday", "taxId"]


def test_the_shipped_roles_have_room_for_more_personal_attributes() -> None:
    length = lengths(documents(MODEL), LONGEST)["session-support.json"]
    assert length <= LIMITS["session"] - 200, "ten names of about 20 characters"


def test_a_partition_named_by_a_personal_attribute_is_closed_to_support() -> None:
    clause = clauses(personal("birthday"), "session-support.json")["NeverByHiddenKey"]
    assert clause["Condition"]["ForAnyValue:StringLike"]["dynamodb:LeadingKeys"] == [
        "TENANT#${aws:PrincipalTag/TenantId}#PERSON#*"
    ]


def test_personal_text_outside_of_keys_closes_no_partition() -> None:
    secret = Attribute("secret", Text(), "About a person.", personal=True)
    made = clauses(model(thing(attributes=(*ATTRIBUTES, secret))), "session-support.json")
    assert "NeverHidden" in made
    assert "NeverByHiddenKey" not in made


def test_a_model_without_personal_attributes_makes_support_a_viewer() -> None:
    assert documents(model(thing()))["session-support.json"] == documents(model(thing()))["session-viewer.json"]


@pytest.mark.parametrize("role", [role for role in roles_of(MODEL) if not role.hidden], ids=lambda role: role.name)
def test_other_roles_see_personal_attributes(role: Any) -> None:
    denied = {sid for sid in clauses(MODEL, session_file(role.name)) if sid.startswith("Never")}
    assert denied == ({"NeverConfidential"} if role.closed else set())


def test_the_partitions_of_a_confidential_entity_are_closed_to_roles_that_read_everything() -> None:
    made = model(thing(confidential=True, indexes=(on(pk="BOX#{ownerId}", sk="{thingId}"),)))
    closed = {f"session-{role}.json" for role in made.roles if "NeverConfidential" in clauses(made, session_file(role))}
    assert closed == {"session-support.json", "session-viewer.json"}, "who writes it reads it"
    clause = clauses(made, "session-viewer.json")["NeverConfidential"]
    assert clause["Action"] == ["dynamodb:*"]
    paths = clause["Condition"]["ForAnyValue:StringLike"]["dynamodb:LeadingKeys"]
    assert [path.removeprefix("TENANT#${aws:PrincipalTag/TenantId}#") for path in paths] == ["BOX#*", "THING#*"]


@pytest.mark.parametrize("name", ["tenant-role.json", "boundary.json"])
def test_indexes_are_granted_by_name(name: str) -> None:
    table = TableSpec(indexes=(Index("ByOwner", "GSI1PK", "GSI1SK"),))
    granted = clauses(model(thing(), table=table), name)["OwnIndexRows"]
    assert granted["Resource"] == ["arn:<partition>:dynamodb:<region>:<account>:table/<table>/index/ByOwner"]
    assert granted["Action"] == ["dynamodb:Query"]
    assert "OwnIndexRows" not in clauses(model(thing(), table=TableSpec(indexes=())), name)


def test_own_rows_are_the_bare_partition_and_what_lies_below_it() -> None:
    prefix = partition(TenantId("${aws:PrincipalTag/TenantId}"), "")
    assert (prefix[:-1], f"{prefix}*") == OWN_KEYS
    assert prefix.endswith("#")


def test_reads_and_writes_are_all_that_is_granted() -> None:
    granted = {
        action
        for name in documents(MODEL)
        for statement in parsed(name).statements
        if statement.effect == "Allow"
        for action in statement.actions
    }
    sts = {"sts:AssumeRole", "sts:TagSession", "sts:SetSourceIdentity"}
    stream = {f"dynamodb:{action}" for action in (*STREAM_READS, "DescribeTable")}
    assert granted == {f"dynamodb:{action}" for action in (*READS, *WRITES)} | sts | stream | {"kms:Decrypt"}


@pytest.mark.parametrize("service", ["dynamodb", "dynamodbstreams"])
def test_every_operation_of_dynamodb_is_granted_or_explicitly_denied(service: str) -> None:
    """`review` demands an explicit denial for each of `EVERY_ACTION`; AWS's own list must not know more."""
    known = set(botocore.session.get_session().get_service_model(service).operation_names) - _COMPOSED
    assert known <= EVERY_ACTION
    assert set(ITEM_ACTIONS) <= EVERY_ACTION


def test_the_gateway_may_do_three_things_to_one_role() -> None:
    made = clauses(MODEL, "gateway-role.json")
    assert made["AssumeTenantRole"]["Resource"] == "<tenant-role-arn>"
    assert made["NoDataOfItsOwn"]["Effect"] == "Deny"


def test_lengths_are_those_of_the_text_that_is_sent() -> None:
    made = {"session-viewer.json": {"Version": "2012-10-17", "Statement": []}}
    assert lengths(made, LONGEST) == {"session-viewer.json": len('{"Statement":[],"Version":"2012-10-17"}')}


def test_a_session_policy_beyond_the_limit_is_named() -> None:
    made = documents(MODEL)
    assert oversized(made, LONGEST) == []
    clause = made["session-support.json"]["Statement"][3]
    clause["Condition"]["ForAnyValue:StringEquals"]["dynamodb:Attributes"] = [f"attribute{n}" for n in range(200)]
    (line,) = oversized(made, LONGEST)
    assert line.startswith("session-support.json has ")
    assert str(LIMITS["session"]) in line
