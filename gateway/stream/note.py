"""A change note: which item of which tenant changed, but not its values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["created", "changed", "removed"]


@dataclass(frozen=True, slots=True)
class ChangeNote:
    """One record of the table's stream, without any value of the item.

    A consumer that needs the values reads the item with the caller's own session, so that policies decide what is
    visible.
    """

    tenant: str
    entity: str  # its name in the model; empty for rows that the model does not declare, such as idempotency records
    place: str  # `primary`, or the name of the copy
    pk: str  # the key of the item in the table, as it is stored
    sk: str
    kind: Kind
    attributes: frozenset[str]  # the names of the attributes that changed
    before: Mapping[str, tuple[str, str]]  # index name -> (pk, sk) that the item had there before the change
    after: Mapping[str, tuple[str, str]]  # index name -> (pk, sk) that the item has now
    shard: str
    sequence: str  # decimal digits, compared as an integer
    expired: bool = False  # DynamoDB removed the item because its time to live has passed

    @property
    def order(self) -> int:
        """The position of the note in its shard."""
        return int(self.sequence)
