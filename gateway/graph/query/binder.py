"""Binds the fields of a validated operation to the model: which pattern, relation or attribute serves each."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from graphql import (
    BooleanValueNode,
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    VariableNode,
    get_named_type,
)

from gateway.graph.background import checkpoint
from gateway.graph.query.arguments import Arguments
from gateway.graph.query.paging import PAGING
from gateway.graph.query.selections import Holds, IncludeCondition, Selected, argument_value, below, grouped
from gateway.graph.query.tree import (
    AttributeField,
    ChangeField,
    CodeField,
    CollectionSelection,
    CursorField,
    CustomField,
    EdgesField,
    IdField,
    ItemField,
    ItemSelection,
    ItemTarget,
    ListChangesField,
    LookupField,
    LookupManyField,
    MembersField,
    NodeField,
    NodesField,
    PageField,
    PageInfoField,
    PageInfoPart,
    PageSelection,
    ReferenceField,
    RelationField,
    RootField,
    SchemaField,
    SingleField,
    StructField,
    StructFields,
    TotalCountField,
    TotalField,
    Typename,
    VersionField,
    WatchListField,
)
from gateway.model.code import CustomQuery
from gateway.model.entity import Collection, Entity, Reference, Total
from gateway.model.model import Model
from gateway.model.mutation import RESULTS, Mutation
from gateway.model.patterns import (
    CONSISTENT,
    AccessPattern,
    ItemCollection,
    Listing,
    Lookup,
    Watch,
    bound_attribute,
    chosen,
    item_lookup,
    names_of,
    open_parameters,
    own_parameters,
    parameters,
    subject_arguments,
)
from gateway.model.types import AttributeType, ListOf, SetOf, Struct

Readable = TypeVar("Readable", bound=Lookup | Listing)

ID, VERSION, TYPENAME = "id", "version", "__typename"
Path = tuple[str, ...]
# a bound field by the type that it is selected on and its response keys from the root
Places = dict[tuple[str, Path], RootField | RelationField | CodeField | ListChangesField]


@dataclass(frozen=True, slots=True)
class Tree:
    """An operation under one choice of its `@include` and `@skip` conditions."""

    roots: tuple[RootField, ...]
    places: Places
    # every selection on items with its response keys; None below a global id, whose type is only known from its item
    items: tuple[tuple[ItemSelection, Path | None], ...]


class Binder:
    """Created once for a model and its schema."""

    def __init__(self, model: Model, schema: GraphQLSchema) -> None:
        self.model = model
        self.schema = schema
        self.mutations = {mutation.name: mutation for mutation in model.mutations}
        lookups = [pattern for pattern in model.patterns.values() if isinstance(pattern, Lookup)]
        self.lookups = {lookup.entity: lookup for lookup in lookups}
        self.renamed = {name: lookup for lookup in lookups for name in names_of(lookup)[1:]}
        node = schema.type_map.get("Node")
        kinds = schema.get_possible_types(node) if isinstance(node, GraphQLInterfaceType) else ()
        self.nodes = tuple(kind.name for kind in kinds)

    def bind(
        self, owner: GraphQLObjectType, selected: Iterable[Selected], holds: Holds, given: frozenset[str] = frozenset()
    ) -> Tree:
        """`given` are the `choosing` variables that have a value."""
        return _Binding(self, holds, given).tree(owner, selected)

    def choosing(self, selected: Iterable[Selected]) -> frozenset[str]:
        """Returns the variables that decide which listing serves a field, by being set or not."""
        return frozenset(
            argument.value.name.value
            for selection in selected
            if selection.name in self.model.choices
            for argument in selection.node.arguments or ()
            if isinstance(argument.value, VariableNode) and argument.name.value not in PAGING
        )

    def object_type(self, definition: GraphQLField) -> GraphQLObjectType:
        kind = get_named_type(definition.type)
        assert isinstance(kind, GraphQLObjectType)  # noqa: S101  only such fields have relations and pages
        return kind

    def needed(self, entity: Entity, name: str) -> set[str]:
        """Returns the attributes that a field of an item needs."""
        if name in entity.attribute or name == VERSION:
            return {name}
        if name == ID:
            return set(entity.id_needs)
        relation = entity.relation.get(name)
        if relation is None:
            return set(entity.derived[name].needs) if name in entity.derived else set()
        bound = {bound_attribute(relation, parameter) for parameter in own_parameters(self.model, relation)}
        members = {relation.each} if isinstance(relation, Collection) and relation.each else set()
        return {attribute for attribute in bound if attribute in entity.attribute} | members


class _Binding:
    def __init__(self, binder: Binder, holds: Holds, given: frozenset[str]) -> None:
        self._binder = binder
        self._model = binder.model
        self._holds = holds
        self._given = given
        self._places: Places = {}
        self._items: list[tuple[ItemSelection, Path | None]] = []
        self._typed = True

    def tree(self, owner: GraphQLObjectType, selected: Iterable[Selected]) -> Tree:
        groups = grouped(selected, owner, self._holds)
        roots: list[RootField] = []
        for key, group in groups.items():
            root = self._root(owner, key, group)
            self._places[owner.name, (key,)] = root
            roots.append(root)
        return Tree(tuple(roots), self._places, tuple(self._items))

    def _root(self, owner: GraphQLObjectType, key: str, group: list[Selected]) -> RootField:
        name = group[0].name
        if name == TYPENAME:
            return Typename(key, owner.name)
        definition = owner.fields.get(name)
        if definition is None:
            return SchemaField(key)
        arguments = Arguments(definition, group[0].node)
        if name in self._binder.mutations:
            return self._change(key, name, arguments, definition, group)
        if owner is self._binder.schema.subscription_type:
            return self._watch(key, self._model.watches[name], arguments, definition, group)
        if name in ("node", "nodes"):
            return self._node(key, arguments, group, plural=name == "nodes")
        if name in self._model.queries:
            return self._custom(key, self._model.queries[name], arguments, definition, group)
        return self._read(key, name, arguments, definition, group)

    def _read(
        self, key: str, name: str, arguments: Arguments, definition: GraphQLField, group: list[Selected]
    ) -> RootField:
        pattern = self._binder.renamed.get(name) or self._pattern(name, arguments)
        arguments.subjects = subject_arguments(self._model, pattern, name)
        assert not isinstance(pattern, ItemCollection)  # noqa: S101  it has no field of its own
        pattern = self._as_requested(pattern, group)
        match pattern:
            case Lookup() if name == pattern.many:
                parameter = parameters(self._model, pattern)[0]
                item = self._item(self._model.entities[pattern.entity], group, definition, (key,))
                return LookupManyField(key, arguments, pattern, parameter, f"{parameter}s", item)
            case Lookup():
                return LookupField(key, arguments, self._target(pattern, group, definition, (key,)))
            case Listing(single=True):
                return self._single(key, arguments, pattern, definition, group)
        return PageField(key, None, pattern, arguments, self._page(pattern, group, definition, (key,)))

    def _as_requested(self, pattern: Readable, group: list[Selected]) -> Readable:
        """Returns the pattern as this field reads it: strongly consistent if the caller requests it.

        INVARIANT: only this function decides it; price and both executors read it from the tree.
        """
        if not pattern.consistent:
            return pattern
        match argument_value(group[0], CONSISTENT):
            case BooleanValueNode(value=strong):
                pass
            case VariableNode() as variable:
                strong = self._holds(IncludeCondition(variable.name.value, True))
            case _:
                strong = False
        return replace(pattern, strong=True) if strong else pattern

    def _custom(
        self, key: str, query: CustomQuery, arguments: Arguments, definition: GraphQLField, group: list[Selected]
    ) -> CustomField:
        item = None
        if isinstance(query.returns, str):
            item = self._item(self._model.entities[query.returns], group, definition, (key,))
        return CustomField(key, query, arguments, item)

    def _pattern(self, name: str, arguments: Arguments) -> AccessPattern:
        choice = self._model.choices.get(name)
        if choice is None:
            return self._model.patterns[name]
        return chosen(self._model, choice, arguments.present(self._given) - PAGING)

    def _change(
        self, key: str, name: str, arguments: Arguments, definition: GraphQLField, group: list[Selected]
    ) -> ChangeField:
        mutation = self._binder.mutations[name]
        payload = self._binder.object_type(definition)
        if mutation.bulk is None:
            return ChangeField(key, name, arguments, tuple(self._changed(mutation, payload, (key,), below(group))))
        items: list[ItemSelection] = []
        for inner_key, inner in grouped(below(group), payload, self._holds).items():
            if inner[0].name == RESULTS:
                result = self._binder.object_type(payload.fields[RESULTS])
                items += self._changed(mutation, result, (key, inner_key), below(inner))
        return ChangeField(key, name, arguments, tuple(items))

    def _changed(
        self, mutation: Mutation, owner: GraphQLObjectType, path: Path, selected: list[Selected]
    ) -> Iterator[ItemSelection]:
        """Yields the selection on the item in a payload, or in one result of a bulk mutation."""
        entity = self._model.entities[mutation.returns]
        for key, inner in grouped(selected, owner, self._holds).items():
            if inner[0].name == mutation.item_field:
                yield self._item(entity, inner, owner.fields[mutation.item_field], (*path, key))

    def _watch(
        self, key: str, watch: Watch, arguments: Arguments, definition: GraphQLField, group: list[Selected]
    ) -> LookupField | WatchListField:
        """INVARIANT: reads after a change note are consistent, or the change might not be seen at all."""
        pattern = self._model.patterns[watch.pattern]
        assert isinstance(pattern, Lookup | Listing)  # noqa: S101  checked with the model
        arguments.subjects = subject_arguments(self._model, pattern, pattern.name)
        if isinstance(pattern, Lookup):
            target = self._target(replace(pattern, strong=True), group, definition, (key,))
            return LookupField(key, arguments, target, watch)
        strong = self._model.place(pattern).index is None
        return self._watched_list(
            key, watch, replace(pattern, strong=strong, cached=None), arguments, definition, group
        )

    def _watched_list(
        self,
        key: str,
        watch: Watch,
        listing: Listing,
        arguments: Arguments,
        definition: GraphQLField,
        group: list[Selected],
    ) -> WatchListField:
        owner, pages, changes = self._binder.object_type(definition), list[PageField](), list[ListChangesField]()
        for inner_key, inner in grouped(below(group), owner, self._holds).items():
            path, name = (key, inner_key), inner[0].name
            if name == "page":
                page = self._page(listing, inner, owner.fields[name], path)
                pages.append(PageField(inner_key, None, listing, arguments, page))
                self._places[owner.name, path] = pages[-1]
            elif name == "changes":
                changes.append(self._list_changes(path, watch, listing, inner, owner.fields[name]))
                self._places[owner.name, path] = changes[-1]
        return WatchListField(key, arguments, watch, listing, tuple(pages), tuple(changes))

    def _list_changes(
        self, path: Path, watch: Watch, listing: Listing, group: list[Selected], definition: GraphQLField
    ) -> ListChangesField:
        entity, owner = self._model.entities[listing.entity], self._binder.object_type(definition)
        lookup = item_lookup(self._model, listing.entity)
        assert lookup is not None  # noqa: S101  checked with the model
        items = [
            self._item(entity, inner, owner.fields["node"], (*path, inner_key))
            for inner_key, inner in grouped(below(group), owner, self._holds).items()
            if inner[0].name == "node"
        ]
        return ListChangesField(path[-1], watch, listing, replace(lookup, strong=True), tuple(items))

    def _node(self, key: str, arguments: Arguments, group: list[Selected], *, plural: bool) -> NodeField:
        items = {}
        self._typed = False
        for name in self._binder.nodes:
            kind: Any = self._binder.schema.type_map[name]
            selection = self._selection(self._model.entities[name], kind, below(group), (key,))
            items[name] = (self._binder.lookups[name], selection)
        self._typed = True
        return NodeField(key, arguments, plural, items)

    def _target(self, lookup: Lookup, group: list[Selected], definition: GraphQLField, path: Path) -> ItemTarget:
        item = self._item(self._model.entities[lookup.entity], group, definition, path)
        return ItemTarget(lookup, item, None if lookup.strong else self._collection(item))

    def _collection(self, item: ItemSelection) -> CollectionSelection | None:
        """INVARIANT: only this function decides whether one Query reads an item with one of its collections."""
        relations = item.relations
        for field in relations:
            pattern = (
                self._model.item_collections.get((item.entity.name, field.relation.name)) if field.relation else None
            )
            alone = sum(other.relation is field.relation for other in relations) == 1
            if pattern is None or not alone or (isinstance(field, PageField) and field.page.counts_only):
                continue
            if isinstance(field, PageField | MembersField):
                return CollectionSelection(pattern, field)
        return None

    def _single(
        self, key: str, arguments: Arguments, listing: Listing, definition: GraphQLField, group: list[Selected]
    ) -> SingleField:
        entity = self._model.entities[listing.entity]
        follow = entity.relation.get(listing.follow or "")
        if not isinstance(follow, Reference):
            item = self._item(entity, group, definition, (key,))
            return SingleField(key, arguments, listing, None, item.attributes, None, item)
        lookup = self._model.lookup(follow.pattern)
        needed = frozenset(bound_attribute(follow, name) for name in parameters(self._model, lookup))
        target = self._target(lookup, group, definition, (key,))
        return SingleField(key, arguments, listing, follow, needed, target, target.item)

    def _item(self, entity: Entity, group: list[Selected], definition: GraphQLField, path: Path) -> ItemSelection:
        return self._selection(entity, self._binder.object_type(definition), below(group), path)

    def _selection(
        self, entity: Entity, owner: GraphQLObjectType, selected: Iterable[Selected], path: Path
    ) -> ItemSelection:
        needed: set[str] = set()
        fields: list[ItemField] = []
        checkpoint()
        for key, group in grouped(selected, owner, self._holds).items():
            needed |= self._binder.needed(entity, group[0].name)
            fields.append(self._field(entity, owner, key, group, (*path, key)))
        selection = ItemSelection(entity, frozenset(needed), tuple(fields))
        self._items.append((selection, path if self._typed else None))
        return selection

    def _field(
        self, entity: Entity, owner: GraphQLObjectType, key: str, group: list[Selected], path: Path
    ) -> ItemField:
        name = group[0].name
        if name == TYPENAME:
            return Typename(key, owner.name)
        if name == ID:
            return IdField(key)
        if name == VERSION:
            return VersionField(key)
        attribute = entity.attribute.get(name)
        if attribute is not None:
            below_it = self._struct(attribute.type, owner.fields[name], group)
            return AttributeField(key, attribute, below_it, tuple(selection.node for selection in group))
        derived = entity.derived.get(name)
        field: CodeField | RelationField
        if derived is not None:
            definition = owner.fields[name]
            arguments, nodes = Arguments(definition, group[0].node), tuple(selection.node for selection in group)
            field = CodeField(key, derived, arguments, self._struct(derived.type, definition, group), nodes)
        else:
            field = self._relation(entity, owner.fields[name], key, group, path)
        self._places[owner.name, path] = field
        return field

    def _struct(self, kind: AttributeType, definition: GraphQLField, group: list[Selected]) -> StructFields:
        while isinstance(kind, ListOf | SetOf):
            kind = kind.of
        if not isinstance(kind, Struct):
            return ()
        owner = self._binder.object_type(definition)
        declared = {field.name: field for field in kind.fields}
        selected: list[StructField | Typename] = []
        for key, inner in grouped(below(group), owner, self._holds).items():
            name = inner[0].name
            if name == TYPENAME:
                selected.append(Typename(key, owner.name))
            else:
                field = declared[name]
                selected.append(StructField(key, field, self._struct(field.type, owner.fields[name], inner)))
        return tuple(selected)

    def _relation(
        self, entity: Entity, definition: GraphQLField, key: str, group: list[Selected], path: Path
    ) -> RelationField:
        relation = entity.relation[group[0].name]
        if isinstance(relation, Collection) and relation.each is None:
            listing = self._as_requested(self._model.listing(relation.pattern), group)
            arguments = Arguments(definition, group[0].node)
            return PageField(key, relation, listing, arguments, self._page(listing, group, definition, path))
        lookup = self._model.lookup(relation.pattern)
        if isinstance(relation, Total):
            return TotalField(key, relation, lookup, own_parameters(self._model, relation))
        item = self._item(self._model.entities[lookup.entity], group, definition, path)
        if isinstance(relation, Reference):
            return ReferenceField(key, relation, lookup, item)
        (free,) = open_parameters(self._model, entity, relation)
        return MembersField(key, relation, lookup, item, free)

    def _page(self, listing: Listing, group: list[Selected], definition: GraphQLField, path: Path) -> PageSelection:
        entity, owner = self._model.entities[listing.entity], self._binder.object_type(definition)
        fields: list[NodesField | EdgesField | PageInfoField | TotalCountField | Typename] = []
        for key, inner in grouped(below(group), owner, self._holds).items():
            name = inner[0].name
            if name == TYPENAME:
                fields.append(Typename(key, owner.name))
            elif name == "nodes":
                fields.append(NodesField(key, self._item(entity, inner, owner.fields[name], (*path, key))))
            elif name == "edges":
                fields.append(self._edges(entity, key, inner, owner.fields[name], (*path, key)))
            elif name == "totalCount":
                fields.append(TotalCountField(key))
            else:
                fields.append(self._page_info(key, inner, owner.fields[name]))
        return PageSelection(tuple(fields))

    def _edges(
        self, entity: Entity, key: str, group: list[Selected], definition: GraphQLField, path: Path
    ) -> EdgesField:
        owner = self._binder.object_type(definition)
        fields: list[NodesField | CursorField | Typename] = []
        for inner_key, inner in grouped(below(group), owner, self._holds).items():
            name = inner[0].name
            if name == TYPENAME:
                fields.append(Typename(inner_key, owner.name))
            elif name == "cursor":
                fields.append(CursorField(inner_key))
            else:
                item = self._item(entity, inner, owner.fields[name], (*path, inner_key))
                fields.append(NodesField(inner_key, item))
        return EdgesField(key, tuple(fields))

    def _page_info(self, key: str, group: list[Selected], definition: GraphQLField) -> PageInfoField:
        owner = self._binder.object_type(definition)
        groups = grouped(below(group), owner, self._holds)
        return PageInfoField(
            key,
            tuple(
                Typename(inner_key, owner.name) if inner[0].name == TYPENAME else PageInfoPart(inner_key, inner[0].name)
                for inner_key, inner in groups.items()
            ),
        )
