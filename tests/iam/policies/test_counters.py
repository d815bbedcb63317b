"""Who reads and writes the rows of counters: whoever reads the list and writes its items, and nobody else."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.errors import ModelError
from gateway.iam.policies.policies import generated
from gateway.model.entity import Attribute, Entity, Key, OnIndex, whole_list
from gateway.model.model import Domain, Model
from gateway.model.patterns import Counter, Listing, Lookup
from gateway.model.role import STANDARD_ROLES, Role
from gateway.model.tenant import tenant_id
from gateway.model.types import Id, KeyString
from gateway.ops.policies.files import permissions_for
from tests.store.fixtures import TABLE, tenancy

VISIT = Entity(
    name="Visit",
    description="A visit.",
    attributes=(
        Attribute("userId", Id(), "Who comes."),
        Attribute("visitId", Id(), "Its id."),
        Attribute("email", KeyString(), "Whom to write to.", personal=True),
    ),
    key=Key(pk="USER#{userId}", sk="VISIT#{visitId}"),
    indexes=(
        whole_list("GSI1", "VISITS", sort="{userId}", by="visitId"),
        OnIndex(index="GSI2", pk="MAIL#{email}", sk="{userId}#{visitId}"),
    ),
    owner="userId",
)
ROOM = Entity(
    name="Room", description="A room.", key=Key(pk="ROOM#{roomId}", sk="META"),
    attributes=(Attribute("roomId", Id(), "Its id."),),
    indexes=(whole_list("GSI1", "ROOMS", sort="{roomId}", by="roomId"),),
)  # fmt: skip
OF_USER = Listing(name="visitsOfUser", entity="Visit", description="Of a user.", counter=Counter(2))
PATTERNS = (
    Lookup(name="visit", entity="Visit", description="By id."),
    Lookup(name="room", entity="Room", description="By id."),
    Listing(name="allVisits", entity="Visit", index="all", description="All.", counter=Counter(2)),
    Listing(name="visitsByMail", entity="Visit", index="GSI2", description="By mail.", counter=Counter(2)),
    Listing(name="allRooms", entity="Room", index="all", description="All.", counter=Counter(2)),
    OF_USER,
)
READER = Role(name="reader", description="reads one list", reads=("allVisits",))
PORTER = Role(name="porter", description="writes rooms", reads=("Room",), writes=("Room",))
GUEST = Role(name="guest", description="has its own visits", reads=("Visit", "Room"), own=True)


def model(*roles: Role, patterns: tuple[Any, ...] = PATTERNS) -> Model:
    every = (*STANDARD_ROLES, READER, PORTER, GUEST, *roles)
    entities = (VISIT, ROOM)
    domain = Domain(name="hotel", description="A hotel.", entities=entities, patterns=patterns, roles=every)
    return Model(domains=(domain,))


MODEL = model()
PERMISSIONS = permissions_for(generated(MODEL), MODEL)


def allowed(role: str, operation: str, path: str, subject: str | None = None) -> bool:
    key = {"PK": {"S": f"TENANT#acme#COUNT#{path}#00"}, "SK": {"S": "COUNT"}}
    body: dict[str, Any] = {"TableName": TABLE, "Key": key}
    if operation == "GetItem":
        body["ProjectionExpression"] = "counted"
    if operation == "UpdateItem":
        body |= {
            "UpdateExpression": "ADD #n :n",
            "ExpressionAttributeNames": {"#n": "counted"},
            "ExpressionAttributeValues": {":n": {"N": "1"}},
        }
    return PERMISSIONS(tenancy(), tenant_id("acme"), role, subject).check(operation, body).allowed


def test_whoever_reads_the_list_reads_its_count() -> None:
    assert allowed("viewer", "GetItem", "ALL_ROOMS")
    assert allowed("reader", "GetItem", "ALL_VISITS")
    assert not allowed("reader", "GetItem", "ALL_ROOMS")


def test_whoever_writes_the_items_counts_them_and_nothing_else() -> None:
    assert allowed("editor", "UpdateItem", "ALL_VISITS")
    assert allowed("porter", "UpdateItem", "ALL_ROOMS")
    assert not allowed("porter", "UpdateItem", "ALL_VISITS")
    assert not allowed("viewer", "UpdateItem", "ALL_ROOMS")
    assert not allowed("reader", "UpdateItem", "ALL_VISITS")


def test_a_count_by_a_personal_attribute_is_hidden_as_its_list_is() -> None:
    assert allowed("viewer", "GetItem", "VISITS_BY_MAIL#a@b.org")
    assert not allowed("support", "GetItem", "VISITS_BY_MAIL#a@b.org")
    assert allowed("support", "GetItem", "ALL_VISITS")


def test_an_own_rows_role_reads_the_counts_of_its_subject_only() -> None:
    assert allowed("guest", "GetItem", "VISITS_OF_USER#u1", "u1")
    assert not allowed("guest", "GetItem", "VISITS_OF_USER#u2", "u1")
    assert not allowed("guest", "GetItem", "ALL_VISITS", "u1")
    assert allowed("guest", "GetItem", "ALL_ROOMS", "u1")


def test_an_own_rows_role_does_not_write_what_is_counted_for_everybody() -> None:
    writer = replace(GUEST, name="writer", writes=("Visit",))
    others = [each if isinstance(each, Lookup) else replace(each, counter=None) for each in PATTERNS[:-1]]
    assert "writer" in model(writer, patterns=(*others, OF_USER)).roles
    with pytest.raises(ModelError, match="whose counter of `allVisits` counts the rows of every subject"):
        model(writer)
