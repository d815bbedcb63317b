"""One write of a transaction."""

from gateway.model.keys import ItemKey
from gateway.store.write.member import Member


def test_a_member_is_needed_and_refers_to_nothing_unless_it_says_so() -> None:
    member = Member("Put", ItemKey("TENANT#acme#A", "META"), {})
    assert (member.fault, member.optional, member.sums, member.refers) == (None, False, None, False)
