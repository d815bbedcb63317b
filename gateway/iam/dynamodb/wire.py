"""Reads the parts of a DynamoDB request in its JSON form and refuses those that do not have the expected shape."""

from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Any, Final

from gateway.iam.dynamodb import expressions
from gateway.iam.dynamodb.errors import NotUnderstood
from gateway.iam.language.variables import Value

Body = Mapping[str, Any]

_KEY_TYPES: Final = frozenset("SNB")
_CAPACITY: Final = frozenset(("NONE", "TOTAL", "INDEXES"))
_PARTITION_KEYS: Final = (
    "dynamodb:FirstPartitionKeyValues",
    "dynamodb:SecondPartitionKeyValues",
    "dynamodb:ThirdPartitionKeyValues",
    "dynamodb:FourthPartitionKeyValues",
)


def check_parameters(body: Body, known: frozenset[str]) -> None:
    """Refuses unknown parameters, which could change what the request does."""
    if not body.keys() <= known:
        raise NotUnderstood(f"unknown parameter `{min(map(str, body.keys() - known))}`")


def key_text(item: Any, name: str) -> str:
    """The partition key of an item as text; a number or binary value in the form in which it is sent."""
    value = item.get(name) if isinstance(item, dict) else None
    if isinstance(value, dict) and len(value) == 1:
        for kind, text in value.items():
            if kind in _KEY_TYPES and isinstance(text, str) and text:
                return text
    raise NotUnderstood(f"partition key `{name}` is missing or not a string, number or binary value")


def key_texts(items: Iterable[Any], name: str) -> list[str]:
    """`key_text` of many items, with a fast path for string keys."""
    texts: list[str] = []
    for item in items:
        value = item.get(name) if type(item) is dict else None
        text = value.get("S") if type(value) is dict and len(value) == 1 else None
        texts.append(text if text and type(text) is str else key_text(item, name))
    return texts


def leading(*values: Iterable[str]) -> dict[str, Value]:
    """The partition key values of one request, one set for each attribute of the key."""
    # INVARIANT: LeadingKeys is never an empty set, because `ForAllValues` holds for one.
    sets = [tuple(dict.fromkeys(texts)) for texts in values]
    if not sets or not all(sets) or len(sets) > len(_PARTITION_KEYS):
        raise NotUnderstood("the partition keys are not known")
    return {"dynamodb:LeadingKeys": sets[0], **dict(zip(_PARTITION_KEYS, sets, strict=False))}


def attributes(*names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(names)))


def aliases(body: Body) -> dict[str, str]:
    sent = body.get("ExpressionAttributeNames")
    if sent is None:
        return {}
    if not isinstance(sent, dict):
        raise NotUnderstood("ExpressionAttributeNames must be an object")
    for name in sent.values():
        if not isinstance(name, str) or not name:
            raise NotUnderstood("an expression attribute name must be a string")
    return sent


def names(body: Body, parameter: str, read: Callable[[str], tuple[str, ...]]) -> tuple[str, ...]:
    """The attribute names in one expression of a request; none when the parameter is absent."""
    text = body.get(parameter)
    if text is None:
        return ()
    if not isinstance(text, str):
        raise NotUnderstood(f"{parameter} must be a string")
    return expressions.resolved(read(text), aliases(body))


def legacy_names(body: Body, parameter: str) -> tuple[str, ...]:
    """The attribute names of a legacy parameter: the keys of an object, or a list of names."""
    sent = body.get(parameter)
    if sent is None:
        return ()
    listed = list(sent) if isinstance(sent, dict | list) else []
    if not listed or not all(isinstance(name, str) and name for name in listed):
        raise NotUnderstood(f"{parameter} must hold attribute names")
    return tuple(listed)


def projected(body: Body) -> tuple[str, ...]:
    """The attributes that a read requests; none if it requests everything."""
    legacy = legacy_names(body, "AttributesToGet")
    # It is not documented whether a legacy entry may be a path, so it must be allowed both as a name and as a path.
    heads = (name.split(".", 1)[0].split("[", 1)[0] for name in legacy)
    return one_way(attributes(legacy, heads), names(body, "ProjectionExpression", expressions.projection))


def conditional(body: Body) -> tuple[str, ...]:
    """The attributes in the condition of a write."""
    return one_way(legacy_names(body, "Expected"), names(body, "ConditionExpression", expressions.condition))


def one_way(legacy: tuple[str, ...], modern: tuple[str, ...]) -> tuple[str, ...]:
    if legacy and modern:
        raise NotUnderstood("a request mixes legacy parameters with expressions")
    return legacy or modern


def choice(body: Body, parameter: str, default: str, known: frozenset[str]) -> str:
    value = body.get(parameter, default)
    if not isinstance(value, str) or value not in known:
        raise NotUnderstood(f"unknown value of {parameter}")
    return value


def capacity(body: Body) -> dict[str, Value]:
    return {"dynamodb:ReturnConsumedCapacity": choice(body, "ReturnConsumedCapacity", "NONE", _CAPACITY)}


def objects(value: Any, what: str) -> list[dict[str, Any]]:
    """A list of objects that is not empty: a request without members would need no authorisation."""
    if not isinstance(value, list) or not value or not all(isinstance(member, dict) for member in value):
        raise NotUnderstood(f"{what} must be a list of objects, and not empty")
    return value


def request_items(body: Body) -> dict[str, Any]:
    """The members of a batch, by table."""
    tables = body.get("RequestItems")
    if not isinstance(tables, dict) or not tables:
        raise NotUnderstood("RequestItems must be an object of tables, and not empty")
    return tables
