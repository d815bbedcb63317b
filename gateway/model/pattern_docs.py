"""The page of access patterns, line by line: the table, and for each domain its patterns and entities."""

from collections.abc import Iterator

from gateway.model.entity import Attribute, Collection, Copy, Entity, Placement, Relation, Total
from gateway.model.key_docs import (
    code,
    expiry_words,
    item_collection_text,
    markdown_table,
    partition_words,
    range_words,
    sort_words,
    traffic_words,
)
from gateway.model.model import Domain, Model
from gateway.model.patterns import AccessPattern, ItemCollection, Listing, Lookup, member_place, names_of, parameters

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
    yield from ("# Access patterns", "", "Every way in which the gateway reads the table.")
    yield "This page is printed from the model by `gateway docs`, and a test fails when it is stale: change the model."
    yield from ("", "## The table", "")
    rows = [("the table", code(table.pk), code(table.sk))]
    rows += [(index.name, code(index.pk), code(index.sk)) for index in table.indexes]
    yield from markdown_table(("where", "partition key", "sort key"), rows)
    yield ""
    yield "`T#` stands for `TENANT#<tenant>#`: every partition key, of the table and of every index, starts with it."
    yield f"Every item has {code(table.entity_type)} (what it is) and {code(table.version)} (how often it was written),"
    yield f"one that expires has {code(table.ttl)} (epoch seconds), and a copy has {code(table.copy_of)}."
    yield "An entity's sort keys are unique in a listing, so a position in it is a sort key, in every shard and bucket."
    yield ""


def _domain(model: Model, domain: Domain) -> Iterator[str]:
    yield from (f"## {domain.name}", "", domain.description, "")
    yield from markdown_table(_PATTERN_HEAD, (_pattern(model, pattern) for pattern in domain.patterns))
    yield ""
    for entity in domain.entities:
        yield from _entity(entity)


def _pattern(model: Model, pattern: AccessPattern) -> tuple[str, ...]:
    root = model.entities[pattern.entity].primary
    names = ", ".join(code(name) for name in names_of(pattern))
    asked = ", ".join(code(name) for name in parameters(model, pattern))
    match pattern:
        case Lookup():
            operation = "GetItem, BatchGetItem for many"
            place, order, condition = root, "", f"sort key = {code(sort_words(root))}"
        case Listing():
            place, operation = model.place(pattern), _query(model.place(pattern))
            order = "descending" if pattern.newest_first else "ascending"
            condition = range_words(place, pattern)
        case ItemCollection():
            members = _members(model, pattern)
            place, operation = root, "Query"
            order = "ascending" if root.sk.text < members.sk.text else "descending"
            condition = item_collection_text(root, members)
    strong = not isinstance(pattern, ItemCollection) and pattern.strong
    reach = f"{code(partition_words(place))}; {condition}"
    read = "strong" if strong else "eventual"
    where = place.index or "table"
    expected = traffic_words(pattern.traffic)
    return (names, _purpose(pattern), operation, where, reach, order, read, asked, expected)


def _purpose(pattern: AccessPattern) -> str:
    if isinstance(pattern, Listing) and pattern.follow is not None:
        return f"{pattern.description} Answers with {code(pattern.follow)}, read by its own pattern."
    return pattern.description


def _query(place: Placement) -> str:
    spread = [f"{place.shards.read} shards"] if place.shards is not None else []
    spread += [f"each {place.bucket.size} of the range"] if place.bucket is not None else []
    return f"Query on {' and '.join(spread)}, in parallel" if spread else "Query"


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
    if entity.relations:
        yield from map(_relation, entity.relations)
        yield ""


def _attribute(attribute: Attribute) -> tuple[str, ...]:
    marks = (attribute.required, attribute.personal, attribute.compressed)
    ticks = ("yes" if mark else "" for mark in marks)
    return (code(attribute.name), attribute.type.documentation, *ticks, attribute.description)


def _relation(relation: Relation) -> str:
    if isinstance(relation, Total):
        sum_of = f"the sum of `{relation.attribute}` over {relation.count} items, by `{relation.pattern}`"
        return f"- `{relation.name}`: {sum_of}. {relation.description}"
    many = "many" if isinstance(relation, Collection) else "one"
    each = f", each of `{relation.each}`" if isinstance(relation, Collection) and relation.each else ""
    bound = "".join(f", `{parameter}` is `{own}`" for parameter, own in relation.bind.items())
    return f"- `{relation.name}`: {many}, by `{relation.pattern}`{each}{bound}. {relation.description}"


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
