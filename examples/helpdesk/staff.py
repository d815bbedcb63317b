"""Staff, listed by department: on the same index as tickets by priority, under another key prefix."""

from gateway.graph.mutation.crud import crud
from gateway.model.entity import Attribute, Entity, Key, OnIndex
from gateway.model.patterns import Listing, Lookup
from gateway.model.types import Id, Text

STAFF = Entity(
    name="Staff",
    description="A person who answers tickets.",
    attributes=(
        Attribute("staffId", Id(), "The staff member's id."),
        Attribute("displayName", Text(200), "The name that others see."),
        Attribute("department", Id(), "The staff member's department."),
    ),
    key=Key(pk="STAFF#{staffId}", sk="META"),
    indexes=(OnIndex(index="GSI1", pk="DEPARTMENT#{department}", sk="STAFF#{staffId}"),),
)
PATTERNS = (
    Lookup(name="staffMember", many="staffMembers", entity="Staff", description="Staff by id, one or many at once."),
    Listing(name="staffByDepartment", entity="Staff", index="GSI1", description="Staff of a department."),
)
MUTATIONS = crud(STAFF)
