"""The size of an item as DynamoDB counts it: names and values, with a little for each nesting."""

from typing import Any

import orjson

from gateway.errors import LimitExceeded

MAX_ITEM_BYTES = 400 * 1024


def item_bytes(item: dict[str, Any]) -> int:
    return sum(len(name.encode()) + _value(value) for name, value in item.items())


def _value(wire: dict[str, Any]) -> int:
    [(kind, value)] = wire.items()
    match kind:
        case "S":
            return len(value.encode())
        case "N":
            return _number(value)
        case "B":
            return len(value) * 3 // 4
        case "BOOL" | "NULL":
            return 1
        case "SS":
            return sum(len(each.encode()) for each in value)
        case "NS":
            return sum(_number(each) for each in value)
        case "BS":
            return sum(len(each) * 3 // 4 for each in value)
        case "L":
            return 3 + sum(1 + _value(each) for each in value)
        case _:
            return 3 + sum(1 + len(name.encode()) + _value(each) for name, each in value.items())


def _number(text: str) -> int:
    digits = len(text.replace("-", "").replace(".", "").strip("0"))
    return (digits + 1) // 2 + 1 + text.startswith("-")


def check_size(entity: str, item: dict[str, Any]) -> None:
    # names and values are part of its JSON, which has more around each of them than DynamoDB counts
    if len(orjson.dumps(item)) <= MAX_ITEM_BYTES:
        return
    size = item_bytes(item)
    if size > MAX_ITEM_BYTES:
        raise LimitExceeded(f"this {entity} has {size} bytes; an item may have {MAX_ITEM_BYTES}")
