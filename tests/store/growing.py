"""A model before and after a change: an attribute split in two, an index added, shards doubled."""

import enum
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from gateway.model.entity import Attribute, Copy, Entity, Key, OnIndex, Shards, Upgrade
from gateway.model.model import Domain, Model
from gateway.model.patterns import Listing, Lookup
from gateway.model.types import EnumOf, Id, Integer, KeyString, Text, Timestamp, Wire
from gateway.store.write.items import items_for
from tests.store.fixtures import ACME

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


class State(enum.Enum):
    OPEN = "waiting"
    DONE = "ended"


FULL_NAME = Attribute("fullName", Text(200), "Who asks.", personal=True)
_BEGINNING = (
    Attribute("ticketId", Id(), "Its id."),
    Attribute("userId", Id(), "Whose it is."),
    Attribute("state", EnumOf(State), "Where it stands."),
    Attribute("openedAt", Timestamp(), "Since when."),
)
_REST = (Attribute("effort", Integer(), "How much it takes.", required=False),)
_BY_STATE = OnIndex(
    index="GSI2", pk="STATE#{state}#{shard}", sk="{openedAt}#{ticketId}", shards=Shards(2, by="ticketId")
)

BEFORE = Entity(
    name="Ticket",
    description="What somebody asks.",
    attributes=(*_BEGINNING, FULL_NAME, *_REST),
    key=Key(pk="TICKET#{ticketId}", sk="META"),
    copies=(Copy(name="byUser", pk="USER#{userId}", sk="TICKET#{openedAt}#{ticketId}"),),
    indexes=(_BY_STATE,),
)


def split(values: Mapping[str, Any]) -> dict[str, Any]:
    given, _, family = values.get("fullName", "").partition(" ")
    return {"givenName": given or None, "familyName": family or None}


NAMES = (
    Attribute("givenName", Text(100), "First name.", required=False, personal=True),
    Attribute("familyName", KeyString(), "Last name.", required=False, personal=True),
)
SPLIT = Upgrade(to=2, needs=(FULL_NAME,), gives=("givenName", "familyName"), change=split)
BY_NAME = OnIndex(index="GSI1", pk="FAMILY#{familyName}", sk="TICKET#{ticketId}", filling=True)

AFTER = replace(
    BEFORE,
    attributes=(*_BEGINNING, *NAMES, *_REST),
    indexes=(replace(_BY_STATE, shards=Shards(4, by="ticketId", previous=2)), BY_NAME),
    schema=2,
    upgrades=(SPLIT,),
)


def model(entity: Entity) -> Model:
    patterns = (
        Lookup(name="ticket", entity="Ticket", description="By id."),
        Listing(name="ticketsOfUser", entity="Ticket", index="byUser", description="Of a user."),
        Listing(name="ticketsByState", entity="Ticket", index="GSI2", description="By state."),
    )
    return Model(domains=(Domain(name="desk", description="Tickets.", entities=(entity,), patterns=patterns),))


OLD, NEW = model(BEFORE), model(AFTER)


def ticket(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "ticketId": f"t{number:03}",
        "userId": "u",
        "state": State.OPEN,
        "openedAt": NOW,
        "fullName": f"Ada Number{number:03}",
    } | changes


def old_rows(count: int, tenant: Any = ACME) -> list[Wire]:
    return [row for number in range(count) for row in items_for(OLD, BEFORE, tenant, ticket(number))]
