"""Makes moto fast enough to work with, without changing its answers. See `Embedded`, which runs one request at a time.

For every Query moto sorts the whole table, for every item of a transaction it copies the whole table, for every
attribute of an item it adds up the sizes of all, and for every value of an answer it tries all types and their aliases.
"""

import copy
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from moto.core.common_models import BaseModel
from moto.core.serialize import ResponseSerializer
from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.dynamo_type import DynamoType, Item, LimitedSizeDict
from moto.dynamodb.models.table import Table

_COPIES = "_copies"  # of a table, while a transaction runs
_PARTITION = "_partition"  # of a table, while a query runs
# the methods of moto
QUERY, ALL_ITEMS, GET_VALUE = Table.query, Table.all_items, ResponseSerializer.get_value
UPDATE = DynamoDBBackend.update_item


def speed_up() -> None:
    """Replaces methods of moto, for the whole process."""
    for function in (all_items, query, __deepcopy__):
        setattr(Table, function.__name__, function)
    setattr(Item, __init__.__name__, __init__)
    setattr(DynamoDBBackend, update_item.__name__, update_item)
    setattr(ResponseSerializer, get_value.__name__, get_value)
    setattr(BaseModel, "__new__", staticmethod(_new))  # noqa: B010  mypy does not let a method be replaced


@contextmanager
def copied_once(tables: Iterable[Table]) -> Iterator[None]:
    """While a transaction runs: each table is copied once, before the first write."""
    tables = list(tables)
    for table in tables:
        setattr(table, _COPIES, [])
    try:
        yield
    finally:
        for table in tables:
            delattr(table, _COPIES)


def all_items(table: Any) -> list[Any]:
    """In the order of moto, which casts both values at every comparison; here each is cast once."""
    items = vars(table).get(_PARTITION)
    if items is None:
        items = [item for held in table.items.values() for item in _held(table, held)]
    if not table.range_key_attr:
        return sorted(items, key=lambda item: item.hash_key.cast_value)
    return sorted(items, key=lambda item: (item.hash_key.cast_value, item.range_key.cast_value))


def query(table: Any, hash_key: Any, *args: Any, **named: Any) -> Any:
    """Looks at the items of one partition only; of an index, at those that have its key."""
    index, conditions = args[6], named.get("hash_key_conditions")  # `index_name` is the eighth argument of moto
    if index is None:
        # no item is created by asking: `items` is a dictionary with defaults
        setattr(table, _PARTITION, _held(table, table.items[hash_key]) if hash_key in table.items else [])
    elif conditions:
        items: Iterable[Any] = (item for held in table.items.values() for item in _held(table, held))
        for name, value in conditions:
            items = _with_value(items, name, value)
        setattr(table, _PARTITION, list(items))
    try:
        return QUERY(table, hash_key, *args, **named)
    finally:
        vars(table).pop(_PARTITION, None)


def _held(table: Any, held: Any) -> list[Any]:
    """What a table keeps for a partition key: an item, or items by their sort keys."""
    return list(held.values()) if table.range_key_attr else [held]


def _with_value(items: Iterable[Any], name: str, value: Any) -> Iterator[Any]:
    text = value.value if value.type == "S" else None
    for item in items:
        held = item.attrs.get(name)
        # the values of numbers are texts too, and `1` is `1.0`
        if held is not None and (held.value == text if text is not None and held.type == "S" else held == value):
            yield item


def __init__(item: Any, hash_key: Any, range_key: Any, attrs: dict[str, Any]) -> None:  # noqa: N807  of `Item`
    """Adds up the sizes once, with the last attribute: an item is too large if all of it is."""
    item.hash_key, item.range_key, item.attrs = hash_key, range_key, LimitedSizeDict()
    last = next(reversed(attrs), None)
    for name, value in attrs.items():
        add = LimitedSizeDict.__setitem__ if name == last else dict.__setitem__
        add(item.attrs, name, DynamoType(value))


def __deepcopy__(table: Any, memo: dict[int, Any]) -> Any:  # noqa: N807  the name by which `copy` finds it
    """During a transaction the copies of a table are one, and it shares the items: see `update_item`."""
    attributes = dict(vars(table))
    copies = attributes.pop(_COPIES, None)
    if copies:
        return copies[0]
    duplicate = object.__new__(type(table))
    memo[id(table)] = duplicate
    if copies is not None:
        copies.append(duplicate)
        items = attributes.pop("items")
        duplicate.items = items.copy()
        if table.range_key_attr:
            duplicate.items.update((key, held.copy()) for key, held in items.items())
    vars(duplicate).update(copy.deepcopy(attributes, memo))
    return duplicate


def update_item(backend: Any, table_name: str, key: Any, *args: Any, **named: Any) -> Any:
    """INVARIANT: a transaction changes no item that the copy of its table shares. moto changes items in place."""
    table = backend.get_table(table_name)
    if _COPIES in vars(table) and (item := backend.get_item(table_name, key)) is not None:
        own = copy.deepcopy(item)
        if table.range_key_attr:
            table.items[item.hash_key][item.range_key] = own
        else:
            table.items[item.hash_key] = own
    return UPDATE(backend, table_name, key, *args, **named)


def get_value(serializer: Any, value: Any, key: str, shape: Any) -> Any:
    """An attribute value is a dictionary with the name of its type; other values may have other names in moto."""
    if isinstance(value, dict) and shape.parent.name == "AttributeValue":
        return value.get(key)
    return GET_VALUE(serializer, value, key, shape)


def _new(cls: type[BaseModel], *args: Any, **named: Any) -> BaseModel:
    """Releases items that were copied or replaced: moto keeps a list of every item, for a page of its own."""
    return object.__new__(cls)
