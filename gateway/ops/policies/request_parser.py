"""Parses DynamoDB requests written as a line of words: `Query index=GSI1 PK=TENANT#acme#EMAIL#a attributes=userId`.

The first word is the operation; a word with `=` names a value. `PK` and `SK` are the keys, on an index those of the
index. A second `PK` starts the next key of a batch or transaction; in TransactWriteItems a word such as `Put` starts
the next member. `attributes` are those that a read selects or an update sets; `table`, `index`, `select` and
`returns` are as in DynamoDB; any other name is an attribute of the item that is put.
"""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gateway.errors import BadUserInput
from gateway.iam.dynamodb import sample_requests
from gateway.iam.dynamodb.requests import OPERATIONS
from gateway.iam.dynamodb.sample_requests import Body
from gateway.model.table import TableSpec

_OPTIONS: Final = frozenset(("attributes", "index", "returns", "select", "table"))
_MEMBERS: Final = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "DeleteItem"}

_PUTS: Final = frozenset(("BatchWriteItem", "Put", "PutItem"))


@dataclass(slots=True)
class _Words:
    """The parsed line: options, and one group of names for each key or member."""

    operation: str
    options: dict[str, str] = field(default_factory=dict)
    groups: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def names(self) -> tuple[str, ...]:
        return tuple(name for name in self.options.get("attributes", "").split(",") if name)


def read_request(line: str, spec: TableSpec, table: str) -> tuple[str, Body]:
    """Operation and body in wire form, or `BadUserInput` that says what is wrong with the line."""
    words = _split(line, spec)
    table = words.options.get("table", table)
    build = _BUILDERS.get(words.operation)
    return words.operation, build(words, spec, table) if build else {"TableName": table}


def _split(line: str, spec: TableSpec) -> _Words:
    try:
        operation, *rest = shlex.split(line)
    except ValueError as error:
        raise BadUserInput("a request must start with an operation, such as `GetItem PK=... SK=...`") from error
    if operation not in OPERATIONS:
        raise BadUserInput(f"DynamoDB has no operation `{operation}`")
    words = _Words(operation)
    for word in rest:
        _take(words, word, spec)
    return words


def _take(words: _Words, word: str, spec: TableSpec) -> None:
    name, equals, value = word.partition("=")
    if not equals:
        if words.operation != "TransactWriteItems" or word not in _MEMBERS:
            raise BadUserInput(f"`{word}` is not `name=value`")
        words.groups.append((word, {}))
    elif name in _OPTIONS:
        words.options[name] = value
    else:
        if not words.groups or (name == spec.pk and name in words.groups[-1][1]):
            words.groups.append(("", {}))
        member, names = words.groups[-1]
        if name not in _key_names(spec) and (member or words.operation) not in _PUTS:
            raise BadUserInput(f"`{name}` is not a key: write `attributes=...` for attributes to read or set")
        names[name] = value


def _key_names(spec: TableSpec) -> set[str | None]:
    return {spec.pk, spec.sk, *(name for index in spec.indexes for name in (index.pk, index.sk))}


def _text_item(names: Mapping[str, str]) -> Body:
    return {name: {"S": value} for name, value in names.items()}


def _items(words: _Words) -> list[Body]:
    return [_text_item(names) for _, names in words.groups]


def _one(words: _Words) -> Body:
    items = _items(words)
    if len(items) != 1:
        raise BadUserInput(f"`{words.operation}` must name exactly one key")
    return items[0]


def _query(words: _Words, spec: TableSpec, table: str) -> Body:
    index = words.options.get("index")
    spec_index = next((candidate for candidate in spec.indexes if candidate.name == index), None)
    pk, sk = (spec_index.pk, spec_index.sk) if spec_index else (spec.pk, spec.sk)
    names = words.groups[0][1] if words.groups else {}
    values = {f":v{position}": {"S": value} for position, value in enumerate(names.values())}
    aliases = {f"#v{position}": {spec.pk: pk, spec.sk: sk}.get(name, name) for position, name in enumerate(names)}
    chosen = sample_requests.projection(words.names())
    condition = " AND ".join(f"#v{position} = :v{position}" for position in range(len(names)))
    body: Body = {
        "TableName": table,
        **chosen,
        "KeyConditionExpression": condition,
        "ExpressionAttributeNames": {**chosen.get("ExpressionAttributeNames", {}), **aliases},
        "ExpressionAttributeValues": values,
    }
    return {**body, **_options(words, index="IndexName", select="Select")}


def _scan(words: _Words, spec: TableSpec, table: str) -> Body:
    body = {"TableName": table, **sample_requests.projection(words.names())}
    return {**body, **_options(words, index="IndexName", select="Select")}


def _write(operation: str, words: _Words, item: Body, table: str) -> Body:
    match operation:
        case "PutItem":
            return sample_requests.put(table, item, {})
        case "UpdateItem":
            return _update(words, item, table)
    return sample_requests.delete(table, item, {})


def _update(words: _Words, item: Body, table: str) -> Body:
    names = words.names()
    if not names:
        raise BadUserInput("an update must name the attributes that it sets in `attributes`")
    aliases = {f"#a{position}": name for position, name in enumerate(names)}
    values: dict[str, Any] = {f":a{position}": {"S": "x"} for position in range(len(names))}
    sets = ", ".join(f"#a{position} = :a{position}" for position in range(len(names)))
    more = {"UpdateExpression": f"SET {sets}", "ExpressionAttributeNames": aliases, "ExpressionAttributeValues": values}
    return {"TableName": table, "Key": item, **more}


def _single(words: _Words, spec: TableSpec, table: str) -> Body:
    return {**_write(words.operation, words, _one(words), table), **_options(words, returns="ReturnValues")}


def _transact_write(words: _Words, spec: TableSpec, table: str) -> Body:
    members = [(kind, _text_item(names)) for kind, names in words.groups]
    if not all(kind for kind, _ in members):
        raise BadUserInput(f"a member must start with one of {', '.join(_MEMBERS)}")
    return sample_requests.transact_write(
        *((kind, _write(_MEMBERS[kind], words, item, table)) for kind, item in members)
    )


def _options(words: _Words, **parameters: str) -> Body:
    return {parameters[name]: value for name, value in words.options.items() if name in parameters}


_BUILDERS: Final[Mapping[str, Callable[[_Words, TableSpec, str], Body]]] = {
    "GetItem": lambda words, spec, table: sample_requests.get(table, _one(words), words.names()),
    "BatchGetItem": lambda words, spec, table: sample_requests.batch_get(table, _items(words), words.names()),
    "TransactGetItems": lambda words, spec, table: sample_requests.transact_get(table, _items(words), words.names()),
    "Query": _query,
    "Scan": _scan,
    "PutItem": _single,
    "UpdateItem": _single,
    "DeleteItem": _single,
    "BatchWriteItem": lambda words, spec, table: sample_requests.batch_write(table, _items(words), []),
    "TransactWriteItems": _transact_write,
}
