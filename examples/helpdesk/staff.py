"""Staff, listed by department: on the same index as tickets by priority, under another key prefix."""

from gateway import Attribute, Entity, Id, Key, Listing, Lookup, OnIndex, Text, crud
from helpdesk.code import ONLINE

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
    loaded=(ONLINE,),
)
PATTERNS = (
    Lookup(name="staffMember", many="staffMembers", entity="Staff", description="Staff by id, one or many at once."),
    Listing(name="staffByDepartment", entity="Staff", index="GSI1", description="Staff of a department."),
)
MUTATIONS = crud(STAFF)
