"""Prepares a lane: turns the tree of a query and the policies of a session into reads, levels and roots."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from gateway.graph.query.binder import Tree
from gateway.graph.query.code import LoadedCode
from gateway.graph.query.lane.code_fields import (
    CodeColumn,
    CodeValues,
    CodeWriter,
    ComputedLoad,
    LoadedLoad,
    LoadedWant,
    is_column,
)
from gateway.graph.query.lane.columns import writer
from gateway.graph.query.lane.fallback import NoLane
from gateway.graph.query.lane.items import (
    ItemsLoad,
    ItemsRead,
    Level,
    Load,
    MembersWant,
    ReferenceLoad,
    ReferenceWant,
    TotalWant,
    Want,
    putter,
)
from gateway.graph.query.lane.keys import (
    Binding,
    Keys,
    argument_key,
    member_keys,
    reference_keys,
    reference_partitions,
    total_keys,
)
from gateway.graph.query.lane.pages import CountRead, PageLevel, PageRoot, PagesLoad
from gateway.graph.query.lane.reads import FUNCTION_BYTES, Reads
from gateway.graph.query.lane.roots import (
    CollectionRead,
    ConstantRoot,
    ItemsRoot,
    ItemWant,
    NodeRoot,
    Root,
    SingleRoot,
    TargetRead,
    TargetRoot,
)
from gateway.graph.query.lane.rows import OutType, RowType, number_shape, shape
from gateway.graph.query.lane.source import LaneTable, is_plain
from gateway.graph.query.lane.values import value_reader
from gateway.graph.query.tree import (
    CodeField,
    CollectionSelection,
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
from gateway.model.code import Loaded
from gateway.model.entity import Entity
from gateway.model.model import Model
from gateway.model.patterns import Lookup, bound_attribute, parameters
from gateway.model.tenant import TenantId
from gateway.store.cursor import Cursors
from gateway.store.key_ranges import KeyRange
from gateway.store.plan import Attributes, QueryPartition

_EXAMPLE = TenantId("any")


class FieldSlot(NamedTuple):
    """One field of a level: its selection, its slot in the results, and the entity that has it."""

    part: int
    slot: str
    owner: Entity
    field: Any


class Preparation:
    """`denied` are the attributes that the role may not read; they are null, with an error for each row."""

    def __init__(self, model: Model, source: LaneTable, denied: Attributes, cursors: Cursors) -> None:
        self._model = model
        self._denied = denied
        self._cursors = cursors
        self._reads = Reads(model, source, denied)

    def prepare(self, tree: Tree) -> list[Root]:
        roots = self._roots(tree)
        self._reads.share()
        return roots

    @property
    def size(self) -> int:
        """The approximate memory of what was prepared, in bytes."""
        return self._reads.size

    def _roots(self, tree: Tree) -> list[Root]:
        separate_roots: list[Root] = []
        shared: dict[tuple[str, bool], list[tuple[int, LookupField | LookupManyField]]] = {}
        for number, root in enumerate(tree.roots):
            match root:
                case Typename():
                    separate_roots.append(ConstantRoot(number, root.value))
                case LookupField() if root.target.collection is not None:
                    separate_roots.append(TargetRoot(number, root.arguments, self._target(root.target)))
                case LookupField():
                    lookup = root.target.lookup
                    shared.setdefault((lookup.entity, lookup.strong), []).append((number, root))
                case LookupManyField():
                    shared.setdefault((root.lookup.entity, root.lookup.strong), []).append((number, root))
                case PageField():
                    separate_roots.append(PageRoot(number, root.arguments, self._page(root)))
                case SingleField():
                    separate_roots.append(self._single(number, root))
                case NodeField():
                    separate_roots.append(self._node(number, root))
                case _:
                    raise NoLane
        return [
            *separate_roots,
            *(self._items_root(entity, strong, roots) for (entity, strong), roots in shared.items()),
        ]

    def _items_root(self, name: str, strong: bool, roots: list[tuple[int, LookupField | LookupManyField]]) -> ItemsRoot:
        entity = self._model.entities[name]
        items = [root.target.item if isinstance(root, LookupField) else root.item for _, root in roots]
        rows = self._reads.rows(items)
        wants = []
        for number, root in roots:
            if isinstance(root, LookupField):
                wants.append(ItemWant(number, root.arguments))
            else:
                wants.append(ItemWant(number, root.arguments, root.parameter, root.plural))
        read = self._reads.items(entity, rows, items, strong=strong)
        return ItemsRoot(argument_key(entity), read, tuple(wants), self._level(rows, items))

    def _level(self, rows: RowType, items: Sequence[ItemSelection], without: RelationField | None = None) -> Level:
        """`without` is the relation that comes from the same read as the items themselves."""
        shapes = [
            shape(rows, item, OutType([field.key for field in item.fields]), self._denied, self._cursors)
            for item in items
        ]
        self._reads.size += FUNCTION_BYTES * len(items)
        loads: list[Load] = []
        shared: dict[tuple[str, bool], list[FieldSlot]] = {}
        for part, item in enumerate(items):
            for number, field in enumerate(item.fields):
                place = FieldSlot(part, f"f{number}", item.entity, field)
                if isinstance(field, PageField) and field is not without:
                    loads.append(self._pages_load(rows, place, field))
                elif isinstance(field, ReferenceField | MembersField | TotalField) and field is not without:
                    shared.setdefault((field.lookup.entity, field.lookup.strong), []).append(place)
        for (name, strong), places in shared.items():
            loads.append(self._items_load(rows, self._model.entities[name], places, strong=strong))
        return Level(tuple(shapes), (*loads, *self._code_loads(rows, items)))

    def _code_loads(self, rows: RowType, items: Sequence[ItemSelection]) -> list[Load]:
        """Returns the loads of fields whose code needs more than the row; equal fields are loaded together."""
        loads: list[Load] = []
        shared: dict[tuple[str, str], tuple[LoadedCode, list[LoadedWant]]] = {}
        for part, item in enumerate(items):
            for number, field in enumerate(item.fields):
                if not isinstance(field, CodeField) or is_column(field, self._denied):
                    continue
                entity, slot = item.entity, f"f{number}"
                if isinstance(field.declared, Loaded):
                    values = CodeValues(rows, entity, field, self._denied)
                    code = (LoadedCode(entity.name, field.declared), list[LoadedWant]())
                    wants = shared.setdefault((entity.name, field.declared.name), code)[1]
                    wants.append(LoadedWant(part, slot, field, values, CodeWriter(entity, field)))
                else:
                    loads.append(ComputedLoad(part, slot, field, CodeColumn(rows, entity, field, self._denied)))
        return [*loads, *(LoadedLoad(self._model, code, tuple(wants)) for code, wants in shared.values())]

    def _items_load(self, rows: RowType, target: Entity, places: list[FieldSlot], *, strong: bool) -> Load:
        items = [_selection_of(place.field, target) for place in places]
        inner = self._reads.rows(items)
        wants = tuple(self._want(rows, target, place) for place in places)
        level = self._level(inner, items)
        totals = {
            number: number_shape(inner, target, place.field.relation.attribute)
            for number, place in enumerate(places)
            if isinstance(place.field, TotalField)
        }
        shapes = tuple(totals.get(number, item_shape) for number, item_shape in enumerate(level.shapes))
        read = self._reads.items(target, inner, items, strong=strong)
        load = ItemsLoad(read, wants, Level(shapes, level.loads))
        [part, slot, owner, field], *others = places
        if isinstance(field, ReferenceField) and not others:
            bind = self._bind(rows, owner, field, target.key_names)
            keys = reference_partitions(Binding(rows, owner, target, bind))
            if keys is not None and is_plain(keys.sort_key):
                return ReferenceLoad(load, part, keys, putter(slot))
        return load

    def _want(self, rows: RowType, target: Entity, place: FieldSlot) -> Want:
        part, slot, owner, field = place
        self._reads.size += FUNCTION_BYTES
        match field:
            case ReferenceField():
                bind = self._bind(rows, owner, field, target.key_names)
                return ReferenceWant(part, slot, reference_keys(Binding(rows, owner, target, bind)))
            case MembersField():
                return MembersWant(part, slot, self._member_keys(rows, owner, target, field))
            case TotalField():
                return self._total(rows, target, place, field)
        raise AssertionError(field)  # the caller passes no other kind of field

    def _bind(self, rows: RowType, owner: Entity, field: RelationField, names: Iterable[str]) -> dict[str, str]:
        """Returns the parent's attribute for each parameter."""
        assert field.relation is not None  # noqa: S101  only a page at the root has none
        bind = {name: bound_attribute(field.relation, name) for name in names}
        _readable(rows, owner, bind.values())
        return bind

    def _readers(self, rows: RowType, owner: Entity, bind: dict[str, str]) -> dict[str, tuple[str, Any]]:
        return {name: (rows.fields[own], value_reader(owner.attribute[own])) for name, own in bind.items()}

    def _member_keys(self, rows: RowType, owner: Entity, target: Entity, field: MembersField) -> Keys:
        fixed = [name for name in parameters(self._model, field.lookup) if name != field.free]
        list_name = field.relation.each or ""
        _readable(rows, owner, [list_name])
        return member_keys(Binding(rows, owner, target, self._bind(rows, owner, field, fixed)), field.free, list_name)

    def _total(self, rows: RowType, target: Entity, place: FieldSlot, field: TotalField) -> TotalWant:
        relation = field.relation
        bind = self._bind(rows, place.owner, field, field.own)
        key_parts = tuple({**relation.fixed, relation.over: number} for number in range(relation.count))
        write = writer(target.attribute[relation.attribute].type, ())
        return TotalWant(place.part, place.slot, total_keys(Binding(rows, place.owner, target, bind), key_parts), write)

    # pages

    def _pages_load(self, rows: RowType, place: FieldSlot, field: PageField) -> PagesLoad:
        bind = self._bind(rows, place.owner, field, parameters(self._model, field.listing))
        readers = self._readers(rows, place.owner, bind)
        return PagesLoad(place.part, place.slot, field.arguments, field.listing, readers, self._page(field))

    def _page(self, field: PageField) -> PageLevel:
        items = field.page.items
        rows = self._reads.listing_rows(field.listing, items)
        read = self._reads.listing(field.listing, rows, field.page.attributes)
        probe = None
        if field.page.has_page_info and field.arguments.names & {"after", "before"}:
            probe = self._reads.unshared(field.listing, self._reads.listing_rows(field.listing, ()), frozenset())
        return PageLevel(field.page, read, probe, self._level(rows, items), self._count(field))

    def _count(self, field: PageField) -> CountRead | None:
        if not field.page.counted:
            return None
        entity = self._model.counters[field.listing.name]
        selection = [ItemSelection(entity, frozenset({self._model.table.counted}), ())]
        rows = self._reads.rows(selection)
        read = self._reads.items(entity, rows, selection, strong=field.listing.strong)
        return CountRead(field.listing, entity, read, number_shape(rows, entity, self._model.table.counted))

    # items with a collection

    def _target(self, target: ItemTarget) -> TargetRead:
        entity, collection = target.item.entity, target.collection
        applies = False if collection is None else collection.always
        alone = None
        if applies is not True:
            rows = self._reads.rows([target.item])
            alone = (
                self._reads.items(entity, rows, [target.item], strong=target.lookup.strong),
                self._level(rows, [target.item]),
            )
        together = None if collection is None or applies is False else self._collection(target, collection)
        return TargetRead(argument_key(entity), alone, together)

    def _collection(self, target: ItemTarget, collection: CollectionSelection) -> CollectionRead:
        item, member = target.item, collection.member
        inner = list(member.page.items) if isinstance(member, PageField) else [member.item]
        served = self._model.patterns[member.relation.pattern].entity if member.relation else ""
        rows = self._reads.rows([item, *inner], None, {item.entity.name: frozenset(), served: frozenset()})
        attributes = item.attributes.union(*(selection.attributes for selection in inner))
        plan = QueryPartition(_EXAMPLE, None, "", KeyRange(), True, 1, attributes)
        slot = f"f{next(number for number, field in enumerate(item.fields) if field is member)}"
        pages, members = None, None
        if isinstance(member, PageField):
            bind = self._bind(rows, item.entity, member, parameters(self._model, member.listing))
            listed = self._reads.unshared(member.listing, rows, attributes)
            probe = None  # a first page has nothing before it, and its extra row shows whether there is more after it
            page = PageLevel(member.page, listed, probe, self._level(rows, inner), self._count(member))
            readers = self._readers(rows, item.entity, bind)
            pages = PagesLoad(0, slot, member.arguments, member.listing, readers, page)
        else:
            keys = self._member_keys(rows, item.entity, self._model.entities[served], member)
            members = (keys, self._level(rows, inner))
        level = self._level(rows, [item], without=member)
        read = self._reads.collection(plan, rows)
        return CollectionRead(collection, read, attributes - self._denied, level, slot, pages, members)

    def _single(self, number: int, root: SingleField) -> SingleRoot:
        if root.target is None or root.follow is None:
            rows = self._reads.listing_rows(root.listing, [root.item])
            read = self._reads.listing(root.listing, rows, root.needed)
            return SingleRoot(number, root.arguments, root.listing, read, self._level(rows, [root.item]), None)
        owner = self._model.entities[root.listing.entity]
        rows = self._reads.listing_rows(root.listing, (), root.needed)
        read = self._reads.listing(root.listing, rows, root.needed)
        names = self._model.entities[root.target.lookup.entity].key_names
        bind = {name: bound_attribute(root.follow, name) for name in names}
        _readable(rows, owner, bind.values())
        followed = (self._readers(rows, owner, bind), self._target(root.target))
        return SingleRoot(number, root.arguments, root.listing, read, None, followed)

    def _node(self, number: int, root: NodeField) -> NodeRoot:
        types = {name: self._node_type(lookup, item) for name, (lookup, item) in root.items.items()}
        return NodeRoot(number, root.arguments, root.plural, types)

    def _node_type(self, lookup: Lookup, item: ItemSelection) -> tuple[Entity, ItemsRead, Level]:
        rows = self._reads.rows([item])
        read = self._reads.items(item.entity, rows, [item], strong=lookup.strong, by_id=True)
        return item.entity, read, self._level(rows, [item])


def _readable(rows: RowType, owner: Entity, names: Iterable[str]) -> None:
    """Raises `NoLane` if the role may not read an attribute that is part of a key."""
    for name in names:
        if name not in rows.fields:
            raise NoLane
        rows.column(owner.attribute[name])


def _selection_of(field: ReferenceField | MembersField | TotalField, target: Entity) -> ItemSelection:
    if isinstance(field, TotalField):
        return ItemSelection(target, frozenset({field.relation.attribute}), ())
    return field.item
