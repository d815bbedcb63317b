"""The price of an operation in capacity units: derived once from its tree, estimated for every request.

The estimate assumes that every page is full and every reference leads to a different item. Reads that several fields
share are counted each time, so an operation usually takes less than its estimate.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gateway.errors import LimitExceeded
from gateway.graph.query.arguments import Arguments, InvalidArguments, Variables
from gateway.graph.query.binder import Tree
from gateway.graph.query.page_price import PagePrice, count_units
from gateway.graph.query.tree import (
    ChangeField,
    CustomField,
    ItemSelection,
    ItemTarget,
    LookupField,
    LookupManyField,
    MembersField,
    NodeField,
    PageField,
    ReferenceField,
    RelationField,
    RootField,
    SingleField,
    TotalField,
    WatchListField,
)
from gateway.model.code import Loaded
from gateway.model.entity import Entity
from gateway.model.model import Model
from gateway.model.mutation import Mutation
from gateway.model.patterns import Lookup
from gateway.model.types import ListOf, Struct
from gateway.store.capacity_units import index_write_units, item_write_units, query_units, read_units
from gateway.store.item_sizes import NOTHING_LEARNED, LearnedSizes, expected_entry_bytes, expected_item_bytes, learned
from gateway.store.plan import ReadLimits
from gateway.store.write.bulk import ITEMS

# The cost of a mutation: its item with copies, markers and index entries, and what the lists in its input write.


def member_lists(mutation: Mutation) -> list[str]:
    """Returns the lists in the mutation's input that it writes in addition to its item."""
    return [
        field.name for field in mutation.input if isinstance(field.type, ListOf) and isinstance(field.type.of, Struct)
    ]


def write_price(model: Model, mutation: Mutation, arguments: Arguments) -> "Each":
    lists = member_lists(mutation)
    entity = model.entities[mutation.returns]
    declared = {record: item_units(model, entity, record=record) for record in (False, True)}
    record = declared[True] - declared[False]

    def many(values: dict[str, Any], item: float) -> tuple[float, float]:
        count = len(values.get("input", {}).get(ITEMS) or ())
        # the record of a transaction of several items has their keys, so it grows with them
        return count * item + ((record + count * record / 2) if "idempotencyKey" in values else 0), count

    def each(variables: Variables, sizes: LearnedSizes) -> tuple[float, float]:
        try:
            values: dict[str, Any] = arguments.values(variables)
        except InvalidArguments:  # refused at run time
            return declared[False], 1
        learned_here = sizes and any([place.entity == entity.name for place in sizes])  # noqa: C419  a list is faster
        item = item_units(model, entity, sizes) if learned_here else declared[False]
        if mutation.bulk is not None:
            return many(values, item)
        values_of_input = values.get("input", {})
        members = sum(len(values_of_input.get(name) or ()) for name in lists)
        return item + (record if "idempotencyKey" in values else 0) + members * mutation.member_units, 1

    return each


def item_units(model: Model, entity: Entity, sizes: LearnedSizes = NOTHING_LEARNED, *, record: bool = False) -> float:
    """Returns the cost of reading one item and writing it, with copies, unique values, counters and index entries."""
    size = expected_item_bytes(model, entity.name, sizes)
    indexes = {place.index for place in entity.placements if place.index is not None}
    entries = sum(index_write_units(expected_entry_bytes(model, entity.name, index, sizes)) for index in indexes)
    records = len(entity.unique) + record + len(model.counted.get(entity.name, ()))
    written = item_write_units(size, copies=len(entity.copies), records=records)
    return read_units(size, strong=True) + written + entries


COST = "cost"
CURSORS = frozenset({"after", "before"})  # arguments whose value changes with every page, while the price does not
_INPUT, _IDEMPOTENCY = ("input",), ("idempotencyKey",)  # the arguments of a mutation
_CHANGED = 4  # items of a list that one event is expected to have
_MEMBERS = 10  # of a collection by keys without a declared length
_REMEMBERED = 256  # estimates of one operation

# for one parent: the units it takes, and how many items it leads to
Each = Callable[[Variables, LearnedSizes], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class PricedReads:
    """A field that reads or writes; `below` is what is read for its items, and one of these alternatives applies."""

    each: Each
    below: tuple[tuple["PricedReads", ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Price:
    """The price of an operation.

    `names` are the variables that it depends on; None if it also depends on the clock.

    For a variable in `present`, it only matters whether it is set. `known` caches the estimates by all of these.
    """

    reads: tuple[PricedReads, ...]
    names: tuple[str, ...] | None = ()
    present: tuple[str, ...] = ()
    known: dict[Any, float] = field(default_factory=dict, compare=False, repr=False)

    def estimate(self, variables: Variables, sizes: LearnedSizes = NOTHING_LEARNED) -> float:
        """Uses the sizes of the tenant's items if they are larger than declared."""
        return _sum(self.reads, variables, sizes, 1)

    def remember(self, key: tuple[Any, ...], estimate: float) -> None:
        if len(self.known) >= _REMEMBERED:
            self.known.clear()
        self.known[key] = estimate


def _sum(reads: tuple[PricedReads, ...], variables: Variables, sizes: LearnedSizes, parents: float) -> float:
    total = 0.0
    for read in reads:
        units, items = read.each(variables, sizes)
        total += parents * units
        if read.below and items:
            total += max(_sum(alternative, variables, sizes, parents * items) for alternative in read.below)
    return total


@dataclass(frozen=True, slots=True)
class CostLimits:
    """The estimated capacity units that one operation may take; a role may have its own limit."""

    units: float = 2_000
    by_role: Mapping[str, float] = field(default_factory=dict)

    def check(self, estimate: float, role: str) -> None:
        limit = self.by_role.get(role, self.units)
        if estimate > limit:
            raise LimitExceeded(
                f"the operation may take {estimate:.15g} capacity units, at most {limit:g} are allowed for the role"
                f" `{role}`; request smaller pages or fewer fields of each item"
            )


class Pricing:
    """Creates prices; one instance for a model."""

    def __init__(self, model: Model, limits: ReadLimits) -> None:
        self._model = model
        self._limits = limits
        self._mutations = {mutation.name: mutation for mutation in model.mutations}

    def price(self, tree: Tree) -> Price:
        reads = tuple(read for root in tree.roots if (read := self._root(root)) is not None)
        fields: list[Any] = [*tree.roots, *tree.places.values()]
        priced = [priced_field for priced_field in fields if _reads_arguments(priced_field)]
        timed = any(
            isinstance(page_field, PageField) and self._model.place(page_field.listing).bucket for page_field in fields
        )
        names = frozenset[str]().union(*(self._variables(priced_field, presence=False) for priced_field in priced))
        present = frozenset[str]().union(*(self._variables(priced_field, presence=True) for priced_field in priced))
        return Price(reads, None if timed else tuple(sorted(names)), tuple(sorted(present)))

    def _variables(self, field: Any, *, presence: bool) -> frozenset[str]:
        """Returns the variables whose value decides the price; if `presence`, those of which only the presence does."""
        arguments: Arguments = field.arguments
        if not isinstance(field, ChangeField):
            return arguments.variables_of(CURSORS if presence else arguments.names - CURSORS)
        mutation = self._mutations[field.name]
        listed = mutation.bulk is not None or bool(member_lists(mutation))
        return arguments.variables_of(_IDEMPOTENCY if presence else _INPUT if listed else ())

    def _root(self, root: RootField) -> PricedReads | None:
        match root:
            case LookupField():
                return self._target(root.target)
            case WatchListField():
                return self._watched_list(root)
            case LookupManyField():
                count = self._count(root.arguments, root.plural)
                return _counted(_item_units(self._model, root.lookup), count, self._below(root.item))
            case NodeField():
                return self._node(root)
            case SingleField():
                return self._single(root)
            case PageField():
                return self._page(root)
            case CustomField(_, query, _, item):
                cost, items = query.cost, query.max_items if query.many else 1
                return PricedReads(lambda *_: (cost, items), (self._below(item),) if item is not None else ())
            case ChangeField():
                below = tuple(read for item in root.items for read in self._below(item))
                return PricedReads(write_price(self._model, self._mutations[root.name], root.arguments), (below,))
        return None

    def _watched_list(self, root: WatchListField) -> PricedReads:
        """Prices the first event, which has the page, and a later one, which has a few items; the higher one counts.

        With a list on an index, the first event may have both.
        """
        pages = tuple(self._page(page) for page in root.pages)
        unit: Units = _item_units(self._model, root.changes[0].lookup) if root.changes else lambda _: 0.0
        below = tuple(read for changes in root.changes for item in changes.items for read in self._below(item))
        changed = _counted(unit, lambda _: _CHANGED, below)
        both = self._model.place(root.listing).index is not None
        return PricedReads(lambda *_: (0.0, 1), ((*pages, changed),) if both else (pages, (changed,)))

    def _node(self, root: NodeField) -> PricedReads:
        """Prices a field by global id as the most expensive of its possible types."""
        lookups = [_item_units(self._model, lookup) for lookup, _ in root.items.values()]
        below = tuple(self._below(item) for _, item in root.items.values())
        count = self._count(root.arguments, "ids") if root.plural else lambda _: 1

        def each(variables: Variables, sizes: LearnedSizes) -> tuple[float, float]:
            unit = max((units(sizes) for units in lookups), default=0.5)
            return count(variables) * unit, count(variables)

        return PricedReads(each, below)

    def _count(self, arguments: Arguments, plural: str) -> Callable[[Variables], int]:
        """Returns the length of a list argument; more than a page is refused at run time."""
        return lambda variables: min(len(given(arguments, variables).get(plural, ())), self._limits.page)

    def _target(self, target: ItemTarget) -> PricedReads:
        """Prices one item, with the members of a collection if one Query returns both."""
        alone = _item_units(self._model, target.lookup)
        collection = target.collection
        if collection is None:
            return PricedReads(lambda _, sizes: (alone(sizes), 1), (self._below(target.item),))
        entity, member = target.item.entity, collection.member
        priced = self._relation(entity, member)
        size = max(target.lookup.traffic.item_bytes, collection.pattern.traffic.item_bytes)
        member_entity = self._model.patterns[member.relation.pattern].entity if member.relation else entity.name

        def each(variables: Variables, sizes: LearnedSizes) -> tuple[float, float]:
            if not collection.applies(variables):
                return alone(sizes), 1
            # the item itself, and one more member that shows whether there is a next page
            root = learned(sizes, size, self._model, entity.name)
            members = (priced.each(variables, sizes)[1] + 1) * learned(sizes, size, self._model, member_entity)
            return query_units(1, root + members), 1

        def members(variables: Variables, sizes: LearnedSizes) -> tuple[float, float]:
            units, items = priced.each(variables, sizes)
            return (0, items) if collection.applies(variables) else (units, items)

        rest = self._below(target.item, without=member)
        return PricedReads(each, ((PricedReads(members, priced.below), *rest),))

    def _single(self, root: SingleField) -> PricedReads:
        price = PagePrice(self._model, root.listing, self._limits, probed=False, attributes=root.needed)
        below = self._below(root.item) if root.target is None else (self._target(root.target),)
        return PricedReads(lambda _, sizes: price.each({"first": 1}, sizes), (below,))

    def _below(self, item: ItemSelection, without: RelationField | None = None) -> tuple[PricedReads, ...]:
        relations = (self._relation(item.entity, relation) for relation in item.relations if relation is not without)
        # computed fields read nothing but their item
        costs = (field.declared.cost for field in item.code if isinstance(field.declared, Loaded))
        return (*relations, *(_fixed(cost) for cost in costs))

    def _relation(self, entity: Entity, relation: RelationField) -> PricedReads:
        match relation:
            case PageField():
                return self._page(relation)
            case TotalField():
                count, unit = relation.relation.count, _item_units(self._model, relation.lookup)
                return PricedReads(lambda _, sizes: (count * unit(sizes), 0))
            case MembersField():
                together = self._model.item_collections.get((entity.name, relation.relation.name))
                members = together.traffic.items if together is not None else _MEMBERS
                return _counted(
                    _item_units(self._model, relation.lookup), lambda _: members, self._below(relation.item)
                )
            case ReferenceField():
                return _counted(_item_units(self._model, relation.lookup), lambda _: 1, self._below(relation.item))

    def _page(self, page: PageField) -> PricedReads:
        below = tuple(read for item in page.page.items for read in self._below(item))
        probed, attributes = page.page.has_page_info, page.page.attributes
        price = PagePrice(self._model, page.listing, self._limits, probed=probed, attributes=attributes)
        counts = count_units(page.listing) if page.page.counted else 0
        if page.page.counts_only:
            return _fixed(counts)

        def each(variables: Variables, sizes: LearnedSizes) -> tuple[float, float]:
            units, items = price.each(given(page.arguments, variables), sizes)
            return units + counts, items

        return PricedReads(each, (below,))


def _reads_arguments(field: Any) -> bool:
    """Whether its cost depends on its arguments; one item costs the same whatever its key is."""
    match field:
        case PageField() | LookupManyField() | ChangeField() | WatchListField():
            return True
        case NodeField():
            return field.plural
    return False


def given(arguments: Arguments, variables: Variables) -> dict[str, Any]:
    """Returns a price of zero for invalid arguments, which are refused at run time."""
    try:
        return arguments.values(variables)
    except InvalidArguments:
        return {}


def _fixed(cost: float) -> PricedReads:
    return PricedReads(lambda *_: (cost, 0))


def _counted(unit: "Units", count: Callable[[Variables], float], below: tuple[PricedReads, ...]) -> PricedReads:
    return PricedReads(lambda variables, sizes: (count(variables) * unit(sizes), count(variables)), (below,))


Units = Callable[[LearnedSizes], float]  # of one item


def _item_units(model: Model, lookup: Lookup) -> Units:
    declared, entity = lookup.traffic.item_bytes, lookup.entity
    return lambda sizes: read_units(learned(sizes, declared, model, entity), strong=lookup.strong)
