"""Generates the page of access patterns: the table, and the patterns and entities of each domain."""

from collections.abc import Iterator
from functools import partial

from gateway.model.code import Computed, CustomQuery, Loaded
from gateway.model.docs.keys import (
    code,
    expiry_words,
    item_collection_text,
    markdown_table,
    partition_words,
    range_words,
    sort_words,
    traffic_words,
)
from gateway.model.entity import Attribute, Collection, Copy, Entity, Placement, Relation, Total
from gateway.model.model import Domain, Model
from gateway.model.patterns import (
    AccessPattern,
    Choice,
    ItemCollection,
    Listing,
    Lookup,
    listing_arguments,
    member_place,
    names_of,
    parameters,
    reads_through,
)
from gateway.model.table import Index, TableSpec

_PATTERN_HEAD = ("pattern", "what for", "operation", "on", "key condition", "order", "read", "parameters", "expected")
_ATTRIBUTE_HEAD = ("attribute", "type", "required", "personal", "compressed", "what it is")
_PLACE_HEAD = ("place", "on", "partition key", "sort key", "remark")


def access_patterns(model: Model) -> str:
    """The text of docs/access-patterns.md."""
    return "\n".join(_lines(model))


def _lines(model: Model) -> Iterator[str]:
    yield from _table(model)
    for domain in model.domains:
        yield from _domain(model, domain)


def _table(model: Model) -> Iterator[str]:
    table = model.table
    yield from ("# Access patterns", "", "Every read of the table that the gateway can make.")
    yield "This page is printed from the model by `gateway docs`, and a test fails when it is stale: change the model."
    yield from ("", "## The table", "")
    rows = [("the table", code(table.pk), code(table.sk), "whole items")]
    rows += [(index.name, code(index.pk), code(index.sk), _carried(table, index)) for index in table.indexes]
    yield from markdown_table(("where", "partition key", "sort key", "carries"), rows)
    yield ""
    yield "`T#` stands for `TENANT#<tenant>#`: every partition key, of the table and of every index, starts with it."
    yield f"Every item has {code(table.entity_type)} (what it is) and {code(table.version)} (how often it was written),"
    yield f"one that expires has {code(table.ttl)} (epoch seconds), and a copy has {code(table.copy_of)}."
    yield f"One that cannot be removed while others refer to it has {code(table.references)}: how many were made."
    if model.counters:
        yield f"One that a list counts has {code(table.counted_by)}: the names of the lists."
    yield "An entity's sort keys are unique in a listing, so a position in it is a sort key, in every shard and bucket."
    yield ""


def _carried(table: TableSpec, index: Index) -> str:
    local = ", in the partitions of the items themselves" if index.local else ""
    if index.projection == "ALL":
        return f"whole items{local}"
    return ", ".join(["keys", *map(code, table.included(index))]) + local


def _domain(model: Model, domain: Domain) -> Iterator[str]:
    yield from (f"## {domain.name}", "", domain.description, "")
    patterns = [pattern for pattern in domain.patterns if not isinstance(pattern, Choice)]
    yield from markdown_table(_PATTERN_HEAD, map(partial(_pattern, model), patterns))
    yield ""
    choices = [pattern for pattern in domain.patterns if isinstance(pattern, Choice)]
    yield from (line for choice in choices for line in _choice(model, choice))
    if domain.queries:
        yield from map(_query_line, domain.queries)
        yield ""
    if domain.watches:
        yield from ("Subscriptions read with these patterns, consistently, whenever one of their items changes:", "")
        yield from (f"- {code(watch.name)}: {code(watch.pattern)}. {watch.description}" for watch in domain.watches)
        yield ""
    for entity in domain.entities:
        yield from _entity(entity)


def _choice(model: Model, choice: Choice) -> Iterator[str]:
    yield from (f"The arguments of the field {code(choice.name)} choose between patterns: {choice.description}", "")
    for name in choice.patterns:
        taken = listing_arguments(model, model.listing(name))
        words = ", ".join(code(name) for name in sorted(taken.required)) or "no argument"
        more = ", ".join(code(name) for name in sorted(taken.optional))
        yield f"- {words}{f', optionally {more}' if more else ''}: {code(name)}"
    yield ""


def _query_line(query: CustomQuery) -> str:
    content = (
        f"items of {query.returns}" if isinstance(query.returns, str) else f"values ({query.returns.documentation})"
    )
    result = f"at most {query.max_items if query.many else 1} {content}"
    taken = ", ".join(code(field.name) for field in query.arguments)
    words = f"code, {f'by {taken}, ' if taken else ''}that returns {result} at a price of {query.cost:g}"
    return f"- {code(query.name)}: {words}. {query.description}"


def _pattern(model: Model, pattern: AccessPattern) -> tuple[str, ...]:
    root = model.entities[pattern.entity].primary
    names = ", ".join(code(name) for name in names_of(pattern))
    arguments = ", ".join(_argument(pattern, name) for name in parameters(model, pattern))
    match pattern:
        case Lookup():
            operation = "GetItem, BatchGetItem for many"
            place, order, condition = root, "", f"sort key = {code(sort_words(root))}"
        case Listing():
            place, operation = model.place(pattern), _query(model.place(pattern)) + _through(model, pattern)
            order = "descending" if pattern.newest_first else "ascending"
            order += " or reversed" if pattern.reversible else ""
            condition = range_words(place, pattern)
        case ItemCollection():
            members = _members(model, pattern)
            place, operation = root, "Query"
            order = "ascending" if root.sk.text < members.sk.text else "descending"
            condition = item_collection_text(root, members)
    reach = f"{code(partition_words(place))}; {condition}"
    read = _consistency(pattern)
    where = place.index or "table"
    expected = traffic_words(pattern.traffic)
    return (names, _purpose(model, pattern), operation, where, reach, order, read, arguments, expected)


def _argument(pattern: AccessPattern, name: str) -> str:
    left = isinstance(pattern, Lookup | Listing) and name in pattern.defaults
    return f"{code(name)} (default: the subject)" if left else code(name)


def _consistency(pattern: AccessPattern) -> str:
    if isinstance(pattern, ItemCollection):
        return "eventual"
    if isinstance(pattern, Listing) and pattern.lag != "through_table":
        return f"eventual, own changes: {code(pattern.lag)}"
    return "strong" if pattern.strong else "eventual, strong on request" if pattern.consistent else "eventual"


def _purpose(model: Model, pattern: AccessPattern) -> str:
    if isinstance(pattern, Listing) and pattern.follow is not None:
        return f"{pattern.description} Returns {code(pattern.follow)}, read by its own pattern."
    if isinstance(pattern, Listing) and pattern.total_count is not None:
        key = partition_words(model.counters[pattern.name].primary)
        rows = f"{pattern.total_count.shards} rows {code(key)}"
        return f"{pattern.description} Its {code('totalCount')} is the sum of {rows}, read in one batch."
    return pattern.description


def _query(place: Placement) -> str:
    spread = [f"{place.shards.read} shards"] if place.shards is not None else []
    spread += [f"each {place.bucket.size} of the range"] if place.bucket is not None else []
    return f"Query on {' and '.join(spread)}, in parallel" if spread else "Query"


def _through(model: Model, listing: Listing) -> str:
    place, entity = model.place(listing), model.entities[listing.entity]
    carried = model.table.carried(model.table.index(place.index))
    if carried is None or not reads_through(model, listing, entity.attribute.keys()):
        return ""
    if reads_through(model, listing, frozenset()):
        return f", and BatchGetItem of what {place.index} does not carry"
    more = ", ".join(code(name) for name in entity.attribute if name not in carried)
    return f", and BatchGetItem if {more} is selected"


def _members(model: Model, together: ItemCollection) -> Placement:
    relation = model.entities[together.entity].relation[together.collection]
    return member_place(model, model.patterns[relation.pattern])


def _entity(entity: Entity) -> Iterator[str]:
    yield from (f"### {entity.name}", "", entity.description, "")
    yield from markdown_table(_ATTRIBUTE_HEAD, map(_attribute, entity.attributes))
    yield ""
    yield from markdown_table(_PLACE_HEAD, map(_place, entity.placements))
    yield ""
    if entity.schema > 1:
        yield from (f"Its items are stored by schema {entity.schema}; older ones are upgraded when they are read.", "")
    if entity.expiry is not None:
        yield from (f"It expires {expiry_words(entity.expiry)}.", "")
    if entity.relations or entity.derived:
        yield from map(_derived, entity.derived.values())
        yield from map(_relation, entity.relations)
        yield ""


def _attribute(attribute: Attribute) -> tuple[str, ...]:
    marks = (attribute.required, attribute.personal, attribute.compressed)
    ticks = ("yes" if mark else "" for mark in marks)
    return (code(attribute.name), attribute.type.documentation, *ticks, attribute.description)


def _derived(field: Computed | Loaded) -> str:
    needs = ", ".join(map(code, field.needs))
    price = f", loaded for many items at once at a price of {field.cost:g} each" if isinstance(field, Loaded) else ""
    return f"- {code(field.name)}: {field.type.documentation}, by code from {needs}{price}. {field.description}"


def _relation(relation: Relation) -> str:
    if isinstance(relation, Total):
        sum_of = f"the sum of `{relation.attribute}` over {relation.count} items, by `{relation.pattern}`"
        return f"- `{relation.name}`: {sum_of}. {relation.description}"
    many = "many" if isinstance(relation, Collection) else "one"
    suffix = f", each of `{relation.each}`" if isinstance(relation, Collection) and relation.each else ""
    bound = "".join(f", `{parameter}` is `{own}`" for parameter, own in relation.bind.items())
    return f"- `{relation.name}`: {many}, by `{relation.pattern}`{suffix}{bound}. {relation.description}"


def _place(place: Placement) -> tuple[str, ...]:
    remarks = ["a copy, written with the item"] if isinstance(place.declared, Copy) else []
    if place.shards is not None:
        remarks.append(f"sharded by `{place.shards.by}`")
        if place.shards.previous is not None:
            remarks.append(f"moving from or to {place.shards.previous} shards, {place.shards.count} are written")
    if place.filling:
        remarks.append("being filled, not read yet")
    if place.when is not None:
        remarks.append(f"only while `{place.when.attribute}` is {' or '.join(place.when.values)}")
    if place.declared.low_cardinality_reason:
        remarks.append(place.declared.low_cardinality_reason)
    where = place.index or "table"
    return (place.name, where, code(partition_words(place)), code(sort_words(place)), "; ".join(remarks))
