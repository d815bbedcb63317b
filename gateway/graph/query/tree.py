"""The tree of an operation: its fields bound to attributes, relations and access patterns of the model.

Limits, price, needed attributes and both executors read this tree; no other code reads the document.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from graphql import FieldNode

from gateway.graph.query.arguments import Arguments, InvalidArguments, Variables
from gateway.model.code import Computed, CustomQuery, Loaded
from gateway.model.entity import Attribute, Collection, Entity, Reference, Total
from gateway.model.patterns import ItemCollection, Listing, Lookup, Watch
from gateway.model.types import Field
from gateway.store.plan import Attributes


@dataclass(frozen=True, slots=True)
class Typename:
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class StructField:
    """One field inside a struct: `field` is declared by the model, `below` is selected from it."""

    key: str
    field: Field
    below: "StructFields"


StructFields = tuple[StructField | Typename, ...]


@dataclass(frozen=True, slots=True)
class AttributeField:
    """`nodes` are its places in the document, for errors that refer to them."""

    key: str
    attribute: Attribute
    below: StructFields
    nodes: tuple[FieldNode, ...] = ()


@dataclass(frozen=True, slots=True)
class CodeField:
    """A field with code; `nodes` are its places in the document."""

    key: str
    declared: Computed | Loaded
    arguments: Arguments
    below: StructFields
    nodes: tuple[FieldNode, ...] = ()


@dataclass(frozen=True, slots=True)
class VersionField:
    key: str


@dataclass(frozen=True, slots=True)
class IdField:
    """The global id, derived from the attributes of the item's key."""

    key: str


@dataclass(frozen=True, slots=True)
class ReferenceField:
    key: str
    relation: Reference
    lookup: Lookup
    item: "ItemSelection"


@dataclass(frozen=True, slots=True)
class MembersField:
    """A collection by keys: `free` is the parameter that the members of the parent's list fill."""

    key: str
    relation: Collection
    lookup: Lookup
    item: "ItemSelection"
    free: str


@dataclass(frozen=True, slots=True)
class TotalField:
    """`own` are the parameters of its lookup that the parent fills."""

    key: str
    relation: Total
    lookup: Lookup
    own: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PageField:
    """A page of a listing: of a parent's collection, or at the root, where there is no relation."""

    key: str
    relation: Collection | None
    listing: Listing
    arguments: Arguments
    page: "PageSelection"


RelationField = ReferenceField | MembersField | TotalField | PageField
ItemField = Typename | AttributeField | CodeField | VersionField | IdField | RelationField


@dataclass(frozen=True, slots=True)
class ItemSelection:
    """What is selected from the items of one entity; `attributes` are all that it needs."""

    entity: Entity
    attributes: Attributes
    fields: tuple[ItemField, ...]

    @property
    def relations(self) -> tuple[RelationField, ...]:
        return tuple(
            field for field in self.fields if isinstance(field, ReferenceField | MembersField | TotalField | PageField)
        )

    @property
    def code(self) -> tuple[CodeField, ...]:
        return tuple(field for field in self.fields if isinstance(field, CodeField))


@dataclass(frozen=True, slots=True)
class NodesField:
    key: str
    item: ItemSelection


@dataclass(frozen=True, slots=True)
class CursorField:
    key: str


@dataclass(frozen=True, slots=True)
class EdgesField:
    key: str
    fields: tuple[NodesField | CursorField | Typename, ...]


@dataclass(frozen=True, slots=True)
class PageInfoPart:
    """`name` is a field of `PageInfo` as the schema spells it."""

    key: str
    name: str


@dataclass(frozen=True, slots=True)
class PageInfoField:
    key: str
    fields: tuple[PageInfoPart | Typename, ...]


@dataclass(frozen=True, slots=True)
class TotalCountField:
    """How many items a listing with a counter has."""

    key: str


@dataclass(frozen=True, slots=True)
class PageSelection:
    fields: tuple[NodesField | EdgesField | PageInfoField | TotalCountField | Typename, ...]

    @property
    def counted(self) -> bool:
        return any(isinstance(field, TotalCountField) for field in self.fields)

    @property
    def counts_only(self) -> bool:
        """Whether nothing of the items is selected, so that none are read."""
        return self.counted and all(isinstance(field, TotalCountField | Typename) for field in self.fields)

    @property
    def items(self) -> tuple[ItemSelection, ...]:
        """Every selection on the items, in the order of the fields."""
        selections: list[ItemSelection] = []
        for field in self.fields:
            if isinstance(field, NodesField):
                selections.append(field.item)
            elif isinstance(field, EdgesField):
                selections += [part.item for part in field.fields if isinstance(part, NodesField)]
        return tuple(selections)

    @property
    def attributes(self) -> Attributes:
        return frozenset[str]().union(*(item.attributes for item in self.items))

    @property
    def has_page_info(self) -> bool:
        return any(isinstance(field, PageInfoField) for field in self.fields)


@dataclass(frozen=True, slots=True)
class CollectionSelection:
    """One Query that reads an item together with the first members of one of its collections."""

    pattern: ItemCollection
    member: PageField | MembersField

    @property
    def always(self) -> bool | None:
        """Whether it applies for any values of the variables; None if it depends on them."""
        if isinstance(self.member, MembersField):
            return True
        if self.member.arguments.fixed.keys() - {"first"}:
            return False
        return True if self.member.arguments.names <= {"first"} else None

    def applies(self, variables: Variables) -> bool:
        """Whether the page needs its own Query, because it starts or ends at a cursor or covers a range."""
        if isinstance(self.member, MembersField):
            return True
        try:
            return self.member.arguments.values(variables).keys() <= {"first"}
        except InvalidArguments:
            return False


@dataclass(frozen=True, slots=True)
class ItemTarget:
    """One item by its key; `collection` is what the same Query may return."""

    lookup: Lookup
    item: ItemSelection
    collection: CollectionSelection | None


@dataclass(frozen=True, slots=True)
class LookupField:
    """`watch` is the subscription that reads the item, if one does."""

    key: str
    arguments: Arguments
    target: ItemTarget
    watch: Watch | None = None


@dataclass(frozen=True, slots=True)
class LookupManyField:
    """`plural` is the argument with the values of `parameter`."""

    key: str
    arguments: Arguments
    lookup: Lookup
    parameter: str
    plural: str
    item: ItemSelection


@dataclass(frozen=True, slots=True)
class SingleField:
    """The only item that a listing finds, or the item that its reference `follow` leads to."""

    key: str
    arguments: Arguments
    listing: Listing
    follow: Reference | None
    needed: Attributes  # of the listing's own item
    target: ItemTarget | None  # with `follow`
    item: ItemSelection


@dataclass(frozen=True, slots=True)
class NodeField:
    """A field by global id; `plural` means that it takes many. `lookups` has the selection for each type."""

    key: str
    arguments: Arguments
    plural: bool
    items: Mapping[str, tuple[Lookup, ItemSelection]]

    def entity(self, name: str) -> Entity | None:
        return self.items[name][1].entity if name in self.items else None


@dataclass(frozen=True, slots=True)
class CustomField:
    """A custom query; `item` is the selection on its items, if it returns some."""

    key: str
    query: CustomQuery
    arguments: Arguments
    item: ItemSelection | None


@dataclass(frozen=True, slots=True)
class ChangeField:
    """A mutation: the item in its payload, and the selection on it."""

    key: str
    name: str
    arguments: Arguments
    items: tuple[ItemSelection, ...]


@dataclass(frozen=True, slots=True)
class SchemaField:
    """Introspection, which only graphql-core executes."""

    key: str


@dataclass(frozen=True, slots=True)
class ListChangesField:
    """The changes in an event of a watched list, and the selection on their items."""

    key: str
    watch: Watch
    listing: Listing
    lookup: Lookup  # of the entity; every read is consistent
    items: tuple[ItemSelection, ...]

    @property
    def attributes(self) -> Attributes:
        return frozenset[str]().union(*(item.attributes for item in self.items))


@dataclass(frozen=True, slots=True)
class WatchListField:
    """A watched list: its first event has the page, all others have changes."""

    key: str
    arguments: Arguments
    watch: Watch
    listing: Listing
    pages: tuple[PageField, ...]
    changes: tuple[ListChangesField, ...]


RootField = (
    Typename
    | LookupField
    | LookupManyField
    | SingleField
    | PageField
    | NodeField
    | CustomField
    | ChangeField
    | SchemaField
    | WatchListField
)
