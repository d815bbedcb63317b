"""The help desk as the gateway loads it: the setting `domains` is `["helpdesk.domain"]`."""

from gateway import Domain
from helpdesk import assigning, code, staff, ticket

DOMAIN = Domain(
    name="helpdesk",
    description="Tickets and the staff who answer them.",
    entities=(ticket.TICKET, staff.STAFF),
    patterns=(*ticket.PATTERNS, *staff.PATTERNS),
    queries=(code.NEXT_TICKETS,),
    mutations=(*ticket.MUTATIONS, *staff.MUTATIONS, assigning.ASSIGN),
)
