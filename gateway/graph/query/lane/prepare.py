"""Prepares a lane: from the tree of a query and the policies of a session to reads, levels and roots."""

from collections.abc import Iterable
from typing import Any

from gateway.graph.query.arguments import Arguments
from gateway.graph.query.bind import Tree
from gateway.graph.query.lane.columns import writer
from gateway.graph.query.lane.keys import reference_keys, value_reader
from gateway.graph.query.lane.levels import (
    ItemsLoad,
    Level,
    Load,
    MemberKeys,
    MembersWant,
    ReferenceWant,
    TotalWant,
    Want,
)
from gateway.graph.query.lane.pages import PageLevel, PagesLoad
from gateway.graph.query.lane.reads import ItemsRead, ListingRead, PartitionRead, Source
from gateway.graph.query.lane.roots import (
    CollectionRead,
    ConstantRoot,
    ItemsRoot,
    ItemWant,
    NodeRoot,
    PageRoot,
    Root,
    SingleRoot,
    TargetRead,
    TargetRoot,
)
from gateway.graph.query.lane.rows import OutType, RowType, shape
from gateway.graph.query.lane.step_back import NoLane
from gateway.graph.query.tree import (
    ItemCollection,
    ItemSelection,
    ItemTarget,
    LookupField,
    LookupManyField,
    MembersField,
    NodeField,
    PageField,
    ReferenceField,
    RelationField,
    SingleField,
    TotalField,
    Typename,
)
from gateway.model.entity import Entity
from gateway.model.model import Model
from gateway.model.pattern_checks import parameters
from gateway.model.patterns import Listing, Lookup
from gateway.model.relation_checks import bound_attribute
from gateway.model.tenant import TenantId
from gateway.store.bounds import Bounds
from gateway.store.plan import Attributes, QueryPartition

_EXAMPLE = TenantId("any")


class Preparation:
    """`denied` are the attributes that the role may not read: they are null, with an error for each row."""

    def __init__(self, model: Model, source: Source, denied: Attributes) -> None:
        self._model = model
        self._source = source
        self._denied = denied
        self._reads: dict[tuple[str, bool], list[ItemsRead]] = {}

    def prepare(self, tree: Tree) -> list[Root]:
        roots = self._roots(tree)
        for reads in self._reads.values():
            for read in reads:
                read.remembers = len(reads) > 1
        return roots

    def _roots(self, tree: Tree) -> list[Root]:
        found: list[Root] = []
        shared: dict[tuple[str, bool], list[tuple[int, LookupField | LookupManyField]]] = {}
        for number, root in enumerate(tree.roots):
            match root:
                case Typename():
                    found.append(ConstantRoot(number, root.value))
                case LookupField() if root.target.collection is not None:
                    found.append(TargetRoot(number, root.arguments, self._target(root.target)))
                case LookupField():
                    lookup = root.target.lookup
                    shared.setdefault((lookup.entity, lookup.strong), []).append((number, root))
                case LookupManyField():
                    shared.setdefault((root.lookup.entity, root.lookup.strong), []).append((number, root))
                case PageField():
                    found.append(PageRoot(number, root.arguments, self._page(root)))
                case SingleField():
                    found.append(self._single(number, root))
                case NodeField():
                    found.append(self._node(number, root))
                case _:
                    raise NoLane
        return [*found, *(self._items_root(entity, strong, roots) for (entity, strong), roots in shared.items())]

    def _items_root(self, name: str, strong: bool, roots: list[tuple[int, LookupField | LookupManyField]]) -> ItemsRoot:
        entity = self._model.entities[name]
        items = [root.target.item if isinstance(root, LookupField) else root.item for _, root in roots]
        rows = self._rows(items)
        wants = []
        for (number, root), item in zip(roots, items, strict=True):
            level = self._level(rows, item)
            if isinstance(root, LookupField):
                wants.append(ItemWant(number, root.arguments, level))
            else:
                wants.append(ItemWant(number, root.arguments, level, root.parameter, root.plural))
        return ItemsRoot(entity, self._items_read(entity, rows, items, strong=strong), tuple(wants))

    # reads and their rows

    def _readable(self, attributes: Attributes) -> Attributes:
        return attributes - self._denied

    def _rows(
        self, items: Iterable[ItemSelection], position: str | None = None, also: dict[str, Attributes] | None = None
    ) -> RowType:
        return RowType(self._model, items, position or self._model.table.sk, also=also or {}, denied=self._denied)

    def _items_read(self, entity: Entity, rows: RowType, items: Iterable[ItemSelection], *, strong: bool) -> ItemsRead:
        attributes = frozenset[str]().union(*(item.attributes for item in items))
        read = ItemsRead(self._source, entity, rows, self._readable(attributes), strong=strong)
        self._reads.setdefault((entity.name, strong), []).append(read)
        return read

    def _level(self, rows: RowType, item: ItemSelection, without: RelationField | None = None) -> Level:
        """`without` is what comes from the same read as the item itself."""
        out = OutType([field.key for field in item.fields])
        slots = {id(field): f"f{number}" for number, field in enumerate(item.fields)}
        loads = self._loads(rows, item, slots, [field for field in item.relations if field is not without])
        return Level(shape(rows, item, out, self._denied), tuple(loads))

    def _loads(
        self, rows: RowType, item: ItemSelection, slots: dict[int, str], relations: list[RelationField]
    ) -> list[Load]:
        loads: list[Load] = []
        shared: dict[tuple[str, bool], list[ReferenceField | MembersField | TotalField]] = {}
        for field in relations:
            if isinstance(field, PageField):
                loads.append(self._pages_load(rows, item.entity, field, slots[id(field)]))
            else:
                shared.setdefault((field.lookup.entity, field.lookup.strong), []).append(field)
        for (name, strong), fields in shared.items():
            loads.append(self._items_load(rows, item.entity, self._model.entities[name], fields, slots, strong=strong))
        return loads

    def _items_load(
        self,
        rows: RowType,
        owner: Entity,
        target: Entity,
        fields: list[ReferenceField | MembersField | TotalField],
        slots: dict[int, str],
        *,
        strong: bool,
    ) -> ItemsLoad:
        items = [_selection_of(field, target) for field in fields]
        inner = self._rows(items)
        wants: list[Want] = []
        for field, item in zip(fields, items, strict=True):
            slot = slots[id(field)]
            match field:
                case ReferenceField():
                    bind = self._bind(rows, field, target.key_names)
                    keys = reference_keys(rows, owner, target, bind)
                    wants.append(ReferenceWant(slot, keys, self._level(inner, item)))
                case MembersField():
                    wants.append(
                        MembersWant(slot, self._member_keys(rows, owner, target, field), self._level(inner, item))
                    )
                case TotalField():
                    wants.append(self._total(rows, owner, target, inner, field, slot))
        return ItemsLoad(self._items_read(target, inner, items, strong=strong), tuple(wants))

    def _bind(self, rows: RowType, field: RelationField, names: Iterable[str]) -> dict[str, str]:
        """The attribute of the parent for each parameter; one that the role may not read has no lane."""
        assert field.relation is not None  # noqa: S101  only a page at the root has none
        bind = {name: bound_attribute(field.relation, name) for name in names}
        if not all(own in rows.fields for own in bind.values()):
            raise NoLane
        return bind

    def _readers(self, rows: RowType, owner: Entity, bind: dict[str, str]) -> dict[str, tuple[str, Any]]:
        return {name: (rows.fields[own], value_reader(owner.attribute[own])) for name, own in bind.items()}

    def _member_keys(self, rows: RowType, owner: Entity, target: Entity, field: MembersField) -> MemberKeys:
        fixed = [name for name in parameters(self._model, field.lookup) if name != field.free]
        each = field.relation.each or ""
        if each not in rows.fields:
            raise NoLane
        readers = self._readers(rows, owner, self._bind(rows, field, fixed))
        members = (rows.fields[each], value_reader(owner.attribute[each]))
        return MemberKeys(target, readers, field.free, members)

    def _total(
        self, rows: RowType, owner: Entity, target: Entity, inner: RowType, field: TotalField, slot: str
    ) -> TotalWant:
        relation = field.relation
        if relation.attribute not in inner.fields:
            raise NoLane
        fixed = self._readers(rows, owner, self._bind(rows, field, field.own))
        given = tuple({**relation.fixed, relation.over: number} for number in range(relation.count))
        attribute = target.attribute[relation.attribute]
        value = (inner.fields[relation.attribute], value_reader(attribute))
        return TotalWant(slot, target, fixed, given, value, writer(attribute.type, ()))

    # pages

    def _pages_load(self, rows: RowType, owner: Entity, field: PageField, slot: str) -> PagesLoad:
        bind = self._bind(rows, field, parameters(self._model, field.listing))
        return PagesLoad(slot, field.arguments, field.listing, self._readers(rows, owner, bind), self._page(field))

    def _page(self, field: PageField) -> PageLevel:
        items = field.page.items
        rows = self._listing_rows(field.listing, items)
        read = ListingRead(self._source, field.listing, rows, self._readable(field.page.attributes))
        probe = None
        if field.page.has_page_info and field.arguments.names & {"after", "before"}:
            probe = ListingRead(self._source, field.listing, self._listing_rows(field.listing, ()), frozenset())
        return PageLevel(field.page, read, probe, tuple(self._level(rows, item) for item in items))

    def _listing_rows(
        self, listing: Listing, items: Iterable[ItemSelection], also: Attributes = frozenset()
    ) -> RowType:
        place = self._model.place(listing)
        index = next((index for index in self._model.table.indexes if index.name == place.index), None)
        return self._rows(items, index.sk if index is not None else None, {listing.entity: also})

    # items with a collection

    def _target(self, target: ItemTarget) -> TargetRead:
        entity, collection = target.item.entity, target.collection
        applies = _always_or_never(collection)
        alone = None
        if applies is not True:
            rows = self._rows([target.item])
            alone = (
                self._items_read(entity, rows, [target.item], strong=target.lookup.strong),
                self._level(rows, target.item),
            )
        together = None if collection is None or applies is False else self._collection(target, collection)
        return TargetRead(entity, alone, together)

    def _collection(self, target: ItemTarget, collection: ItemCollection) -> CollectionRead:
        item, member = target.item, collection.member
        inner = list(member.page.items) if isinstance(member, PageField) else [member.item]
        served = self._model.patterns[member.relation.pattern].entity if member.relation else ""
        rows = self._rows([item, *inner], None, {item.entity.name: frozenset(), served: frozenset()})
        attributes = self._readable(item.attributes.union(*(each.attributes for each in inner)))
        plan = QueryPartition(_EXAMPLE, None, "", Bounds(), True, 1, attributes)
        slot = f"f{next(number for number, field in enumerate(item.fields) if field is member)}"
        pages, members = None, None
        if isinstance(member, PageField):
            bind = self._bind(rows, member, parameters(self._model, member.listing))
            listed = ListingRead(self._source, member.listing, rows, attributes)
            probe = None  # a first page has nothing before it, and its own row tells what comes after
            page = PageLevel(member.page, listed, probe, tuple(self._level(rows, each) for each in inner))
            readers = self._readers(rows, item.entity, bind)
            pages = PagesLoad(slot, member.arguments, member.listing, readers, page)
        else:
            keys = self._member_keys(rows, item.entity, self._model.entities[served], member)
            members = (keys, self._level(rows, member.item))
        level = self._level(rows, item, without=member)
        read = PartitionRead(self._source, plan, rows)
        return CollectionRead(collection, read, attributes, level, slot, pages, members)

    def _single(self, number: int, root: SingleField) -> SingleRoot:
        if root.target is None or root.follow is None:
            rows = self._listing_rows(root.listing, [root.item])
            read = ListingRead(self._source, root.listing, rows, self._readable(root.needed))
            return SingleRoot(number, root.arguments, root.listing, read, self._level(rows, root.item), None)
        owner = self._model.entities[root.listing.entity]
        rows = self._listing_rows(root.listing, (), root.needed)
        read = ListingRead(self._source, root.listing, rows, self._readable(root.needed))
        names = self._model.entities[root.target.lookup.entity].key_names
        bind = {name: bound_attribute(root.follow, name) for name in names}
        if not all(own in rows.fields for own in bind.values()):
            raise NoLane
        followed = (self._readers(rows, owner, bind), self._target(root.target))
        return SingleRoot(number, root.arguments, root.listing, read, None, followed)

    def _node(self, number: int, root: NodeField) -> NodeRoot:
        types = {name: self._node_type(lookup, item) for name, (lookup, item) in root.items.items()}
        return NodeRoot(number, root.arguments, root.plural, types)

    def _node_type(self, lookup: Lookup, item: ItemSelection) -> tuple[Entity, ItemsRead, Level]:
        rows = self._rows([item])
        read = self._items_read(item.entity, rows, [item], strong=lookup.strong)
        return item.entity, read, self._level(rows, item)


def _selection_of(field: ReferenceField | MembersField | TotalField, target: Entity) -> ItemSelection:
    if isinstance(field, TotalField):
        return ItemSelection(target, frozenset({field.relation.attribute}), ())
    return field.item


def _always_or_never(collection: ItemCollection | None) -> bool | None:
    """Whether a collection applies whatever the variables are; None where they decide."""
    if collection is None:
        return False
    if isinstance(collection.member, MembersField):
        return True
    arguments: Arguments = collection.member.arguments
    if arguments.fixed.keys() - {"first"}:
        return False
    return True if arguments.names <= {"first"} else None
