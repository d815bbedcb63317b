"""A ticket, found by its id and, while it is open, by its priority."""

import enum

from gateway.graph.mutation.crud import crud, new_id, now
from gateway.model.entity import Attribute, Entity, Key, OnIndex, Reference, Shards, When
from gateway.model.patterns import Listing, Lookup
from gateway.model.types import Boolean, EnumOf, Id, Text, Timestamp


class Priority(enum.Enum):
    """How much a ticket hurries."""

    HIGH = "today"
    NORMAL = "this week"


TICKET = Entity(
    name="Ticket",
    description="Somebody needs help.",
    attributes=(
        Attribute("ticketId", Id(), "The ticket's id."),
        Attribute("subject", Text(200), "What it is about."),
        Attribute("requester", Text(200), "Who needs help.", personal=True),
        Attribute("priority", EnumOf(Priority), "How much it hurries."),
        Attribute("open", Boolean(), "Whether somebody waits for an answer."),
        Attribute("openedAt", Timestamp(), "When it was opened."),
        Attribute("staffId", Id(), "Who takes care of it.", required=False),
    ),
    key=Key(pk="TICKET#{ticketId}", sk="META"),
    indexes=(
        OnIndex(
            index="GSI1",
            pk="PRIORITY#{priority}#{shard}",
            sk="{openedAt}#{ticketId}",
            shards=Shards(2, by="ticketId"),
            when=When("open", ("true",)),
        ),
    ),
    relations=(Reference(name="staff", pattern="staffMember", description="Who takes care of it."),),
)
PATTERNS = (
    Lookup(name="ticket", entity="Ticket", description="One ticket by id."),
    Listing(name="ticketsByPriority", entity="Ticket", index="GSI1", between="openedAt", description="Oldest first."),
)
MUTATIONS = crud(TICKET, filled={"ticketId": new_id, "openedAt": now})
