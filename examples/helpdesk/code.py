"""Fields that code answers: initials, who is online, and the tickets to look at next."""

from typing import Any

from gateway import Boolean, CallerReader, Computed, CustomQuery, Field, Integer, Item, Loaded, Text

INITIALS = Computed(
    "initials",
    Text(20),
    "The initials of the person who needs help.",
    needs=("requester",),
    run=lambda values: "".join(word[0] for word in values["requester"].split())[:20],
)


async def who_is_online(reader: CallerReader, rows: list[dict[str, Any]]) -> list[bool]:
    """Ask your chat service here: once, for all of these staff members."""
    return [row["staffId"].endswith("1") for row in rows]


ONLINE = Loaded("online", Boolean(), "Whether they can chat now.", needs=("staffId",), load=who_is_online, cost=1)


async def next_tickets(reader: CallerReader, arguments: dict[str, Any]) -> list[Item]:
    urgent = await reader.listed("ticketsByPriority", {"priority": "HIGH"}, first=arguments["count"])
    others = await reader.listed("ticketsByPriority", {"priority": "NORMAL"}, first=arguments["count"])
    free = [ticket for ticket in (*urgent, *others) if ticket["staffId"] is None]
    return free[: arguments["count"]]


NEXT_TICKETS = CustomQuery(
    name="nextTickets",
    description="Open tickets of which nobody is in charge, the urgent ones first.",
    returns="Ticket",
    many=True,
    max_items=50,
    arguments=(Field("count", Integer(), "How many; at most 50."),),
    run=next_tickets,
    cost=50,
)
