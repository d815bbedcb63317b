"""A ticket, found by its id and, while it is open, by its priority."""

import enum

from gateway import (
    Attribute,
    Boolean,
    Entity,
    EnumOf,
    Id,
    Key,
    Listing,
    Lookup,
    OnIndex,
    Reference,
    Shards,
    Text,
    Timestamp,
    When,
    crud,
    new_id,
    now,
)
from helpdesk.code import INITIALS


class Priority(enum.Enum):
    """How urgent a ticket is."""

    HIGH = "today"
    NORMAL = "this week"


TICKET = Entity(
    name="Ticket",
    description="A request for help.",
    attributes=(
        Attribute("ticketId", Id(), "The ticket's id."),
        Attribute("subject", Text(200), "The subject."),
        Attribute("requester", Text(200), "The person who needs help.", personal=True),
        Attribute("priority", EnumOf(Priority), "How urgent it is."),
        Attribute("open", Boolean(), "Whether the requester waits for an answer."),
        Attribute("openedAt", Timestamp(), "When it was opened."),
        Attribute("staffId", Id(), "The staff member in charge.", required=False),
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
    computed=(INITIALS,),
    relations=(Reference(name="staff", pattern="staffMember", description="The staff member in charge."),),
)
PATTERNS = (
    Lookup(name="ticket", entity="Ticket", description="One ticket by id."),
    Listing(name="ticketsByPriority", entity="Ticket", index="GSI1", between="openedAt", description="Oldest first."),
)
MUTATIONS = crud(TICKET, filled={"ticketId": new_id, "openedAt": now})
