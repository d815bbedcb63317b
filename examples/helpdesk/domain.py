"""The help desk as the gateway loads it: the setting `domains` is `["helpdesk.domain"]`."""

from gateway.model.model import Domain
from helpdesk import staff, ticket

DOMAIN = Domain(
    name="helpdesk",
    description="Tickets and the staff who answer them.",
    entities=(ticket.TICKET, staff.STAFF),
    patterns=(*ticket.PATTERNS, *staff.PATTERNS),
)
MUTATIONS = (*ticket.MUTATIONS, *staff.MUTATIONS)
