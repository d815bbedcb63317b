"""A mutation with a rule of its own: only open tickets are given to somebody."""

from typing import Any

from gateway import VERSION, Fault, Field, Id, Mutation, MutationResult, UserErrorCode, Writer, invalid
from helpdesk.records import Ticket


async def assign(writer: Writer, values: dict[str, Any]) -> MutationResult:
    ticket = await writer.stored(Ticket, {"ticketId": values["ticketId"]}, values.get("version"))
    if not ticket.open:
        raise invalid("the ticket is closed", "ticketId")
    change = writer.change()
    nobody = Fault(UserErrorCode.NOT_FOUND, f"there is no staff member `{values['staffId']}`", "staffId")
    change.require("Staff", {"staffId": values["staffId"]}, nobody)
    return await writer.commit(change, MutationResult(change.update(ticket.as_item, {"staffId": values["staffId"]})))


ASSIGN = Mutation(
    name="assignTicket",
    description="Give an open ticket to somebody.",
    returns="Ticket",
    input=(Field("ticketId", Id(), "The ticket."), Field("staffId", Id(), "Who takes care of it."), VERSION),
    run=assign,
)
