"""Roles inside a tenant: which entities and patterns a role reads and writes, what is hidden from it, whose rows it
sees.

A role is data. `gateway policies` turns each role into the session policy that AWS enforces, and the gateway
evaluates the same text before each call. A request acts in one role: of those that its token carries, the one
declared first.
"""

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from gateway.model.mutation import Mutation


class Everything(Enum):
    """Means all names, instead of a list of them."""

    ALL = "everything"


class PersonalAttributes(Enum):
    """Means every attribute that the model marks as personal."""

    PERSONAL = "personal attributes"


ALL: Final = Everything.ALL
PERSONAL: Final = PersonalAttributes.PERSONAL

Names = tuple[str, ...] | Everything


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """`reads` names entities and access patterns; `writes` and `removes` name entities, `mutations` names mutations.

    A pattern gives access to the place that it reads, an entity to all places of its items. `removes` and `mutations`
    default to what follows from `writes`. `beside` names entities that share a partition which the role may write, and
    that it does not write itself: IAM sees partitions, not sort keys, so AWS cannot tell them apart. `finds` names
    patterns that find an item by the exact value of a hidden attribute, such as the user of an e-mail address.

    A role with `acting` and `own` also reaches the places of its entities that do not contain the owner. Each item
    with an owner is also written to a place that does, so AWS refuses a change of another subject's item as a whole.
    """

    name: str
    description: str
    reads: Names = ALL
    writes: Names = ()
    removes: Names | None = None
    beside: tuple[str, ...] = ()
    hides: tuple[str, ...] | PersonalAttributes = ()
    shows: tuple[str, ...] | None = None  # instead of `hides`: every attribute except these and those of keys is hidden
    own: bool = False  # for entities with an owner, only the rows of the token's subject
    mutations: Names | None = None
    finds: tuple[str, ...] = ()  # patterns with a hidden attribute in their partition key, which return only an id
    acting: bool = False  # no token carries it: mutations that declare `acts_as` act in it

    @property
    def removable(self) -> Names:
        return self.writes if self.removes is None else self.removes

    def writes_entity(self, entity: str) -> bool:
        return named(self.writes, entity)

    def may_call(self, mutation: "Mutation") -> bool:
        return self.writes_result(mutation) if self.mutations is None else named(self.mutations, mutation.name)

    def writes_result(self, mutation: "Mutation") -> bool:
        """Whether the role itself writes, or removes, the entity that the mutation returns."""
        return named(self.removable if mutation.removes else self.writes, mutation.returns)


def named(names: Names, name: str) -> bool:
    return isinstance(names, Everything) or name in names


STANDARD_ROLES: Final = (
    Role(name="admin", description="reads, writes and removes everything of the tenant", writes=ALL),
    Role(
        name="editor", description="reads and writes everything of the tenant, removes nothing", writes=ALL, removes=()
    ),
    Role(name="support", description="reads, but no attribute that the model marks as personal", hides=PERSONAL),
    Role(name="viewer", description="reads everything of the tenant"),
)
"""The roles of a model that declares none, strongest first."""
