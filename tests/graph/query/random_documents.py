"""Random documents over the shipped schema, with variables, and random damage to the rows that they read."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLObjectType,
    GraphQLSchema,
    get_named_type,
    get_nullable_type,
)

from gateway.graph.global_id import global_id
from gateway.model.tenant import tenant_id

Row = dict[str, Any]
TIMES = ("2026-01-20T00:00:00Z", "2026-02-10T08:30:00+02:00", "2026-02-28T23:59:59.999999Z", "2026-03-02T00:00:00Z")


@dataclass
class RandomDocument:
    text: str
    variables: dict[str, Any]


@dataclass
class Documents:
    """Draws documents; `rows` are those that exist, so that some arguments lead to something."""

    schema: GraphQLSchema
    rows: list[Row]
    random: random.Random
    pools: dict[str, list[str]] = field(init=False)
    variables: dict[str, tuple[str, Any]] = field(init=False)
    fragments: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.pools = {}
        for row in self.rows:
            for name, value in row.items():
                if isinstance(value.get("S"), str):
                    self.pools.setdefault(name, []).append(value["S"])

    def draw(self) -> RandomDocument:
        self.variables, self.fragments = {}, []
        query = self.schema.query_type
        assert query is not None
        names = [name for name in query.fields if name not in ("node", "nodes")]
        roots = []
        for number in range(self.random.choice((1, 1, 1, 2, 3))):
            name = self.random.choice([*names, "node", "nodes"])
            roots.append(f"r{number}: {self._field(query.fields[name], name, self.random.randint(1, 4))}")
        if self.random.random() < 0.1:
            roots.append("__typename")
        body = " ".join(roots)
        if self.random.random() < 0.1:
            body += f" again: {roots[0].partition(': ')[2]}"
        declared = ", ".join(f"${name}: {kind}" for name, (kind, _) in self.variables.items())
        text = f"query Q{f'({declared})' if declared else ''} {{ {body} }} {' '.join(self.fragments)}"
        given = {name: value for name, (_, value) in self.variables.items() if value is not ...}
        return RandomDocument(text, given)

    def _field(self, definition: GraphQLField, name: str, depth: int) -> str:
        arguments = self._arguments(definition, name)
        target = get_named_type(definition.type)
        if not isinstance(target, GraphQLObjectType | GraphQLInterfaceType):
            return f"{name}{arguments}"
        return f"{name}{arguments}{self._condition()} {self._selection(target, depth)}"

    def _selection(self, owner: GraphQLObjectType | GraphQLInterfaceType, depth: int) -> str:
        if isinstance(owner, GraphQLInterfaceType):
            kinds = self.random.sample(list(self.schema.get_possible_types(owner)), 3)
            parts = [f"... on {kind.name} {self._selection(kind, depth - 1)}" for kind in kinds]
            return "{ __typename id " + " ".join(parts) + " }"
        leaves = [name for name, field in owner.fields.items() if not _is_object(field)]
        objects = [name for name, field in owner.fields.items() if _is_object(field)]
        chosen = self.random.sample(leaves, min(len(leaves), self.random.randint(1, 4))) if leaves else []
        connection = owner.name.endswith(("Connection", "Edge"))
        if objects and (depth > 0 or connection):
            chosen += self.random.sample(objects, min(len(objects), self.random.choice((1, 1, 2))))
        if not chosen or self.random.random() < 0.1:
            chosen.append("__typename")
        self.random.shuffle(chosen)
        parts = [self._selected(owner, name, depth) for name in chosen]
        return "{ " + " ".join(parts) + " }"

    def _selected(self, owner: GraphQLObjectType, name: str, depth: int) -> str:
        if name == "__typename":
            return name
        definition = owner.fields[name]
        less = depth if owner.name.endswith(("Connection", "Edge")) else depth - 1
        text = self._field(definition, name, less)
        if _is_object(definition):
            # the same field with other arguments needs another name
            text = f"k{self.random.randint(0, 99_999)}: {text}" if "(" in text or self.random.random() < 0.2 else text
        else:
            text += self._condition()
            if "(" in text or self.random.random() < 0.1:
                text = f"a{self.random.randint(0, 99_999)}: {text}"
        if self.random.random() < 0.08:
            return f"... on {owner.name}{self._condition()} {{ {text} }}"
        if self.random.random() < 0.05:
            fragment = f"F{len(self.fragments)}_{self.random.randint(0, 999)}"
            self.fragments.append(f"fragment {fragment} on {owner.name} {{ {text} }}")
            return f"...{fragment}"
        return text

    def _condition(self) -> str:
        if self.random.random() > 0.06:
            return ""
        word, on = self.random.choice(("include", "skip")), self.random.random() < 0.5
        if self.random.random() < 0.5:
            return f" @{word}(if: {'true' if on else 'false'})"
        return f" @{word}(if: ${self._variable('Boolean!', on)})"

    def _variable(self, kind: str, value: Any) -> str:
        name = f"v{len(self.variables)}"
        self.variables[name] = (kind, value)
        return name

    def _arguments(self, definition: GraphQLField, field_name: str) -> str:
        parts = []
        paged = "last" in definition.args
        if paged and self.random.random() < 0.7:
            way = self.random.choice(("first", "first", "last"))
            parts.append(self._given(way, definition.args[way], self.random.choice((0, 1, 2, 3, 5, 50))))
            if self.random.random() < 0.03:
                parts.append('after: "not a cursor"')
        for name, argument in definition.args.items():
            if paged and name in ("first", "last", "after", "before"):
                continue
            if str(argument.type).endswith("!") or self.random.random() < 0.3:
                parts.append(self._given(name, argument, self._value(name, argument, field_name)))
        return f"({', '.join(parts)})" if parts else ""

    def _given(self, name: str, argument: GraphQLArgument, value: Any) -> str:
        if self.random.random() < 0.4:
            return f"{name}: ${self._variable(str(argument.type), value)}"
        return f"{name}: {_literal(value, argument.type)}"

    def _value(self, name: str, argument: GraphQLArgument, field_name: str) -> Any:
        kind = get_nullable_type(argument.type)
        if isinstance(kind, GraphQLList):
            inner = get_named_type(kind)
            if isinstance(inner, GraphQLEnumType):
                return [_Name(each) for each in self.random.sample(list(inner.values), self.random.randint(0, 2))]
            known = self._ids() if name == "ids" else self._pool(name.removesuffix("s"))
            return [self.random.choice(known) for _ in range(self.random.randint(0, 4))]
        if isinstance(kind, GraphQLEnumType):
            return _Name(self.random.choice(list(kind.values)))
        if isinstance(kind, GraphQLInputObjectType):
            return self._range(kind) if "from" in kind.fields else self._filter(kind)
        if name == "id":
            return self.random.choice(self._ids())
        if str(kind) == "Int":
            return self.random.choice((1, 2, 24, 48, -1))
        if str(kind) == "Boolean":
            return self.random.random() < 0.5
        if str(kind) == "DateTime":
            return self.random.choice(TIMES)
        if str(kind) == "Decimal":
            return self.random.choice(("1", "12.50", "100"))
        return self.random.choice(self._pool(name))

    def _pool(self, name: str) -> list[str]:
        found = self.pools.get(name, ["x"])
        return [
            *self.random.sample(found, min(len(found), 5)),
            "nobody",
            *(["no id"] if self.random.random() < 0.1 else []),
        ]

    def _ids(self) -> list[str]:
        tenant, made = tenant_id("acme"), ["x"]
        for kind, name in (("User", "userId"), ("Order", "orderId"), ("Product", "productId"), ("Post", "postId")):
            made += [global_id(tenant, kind, (each,)) for each in self._pool(name)]
        made.append(global_id(tenant_id("globex"), "User", ("u-1001",)))
        return made

    def _filter(self, kind: GraphQLInputObjectType) -> Any:
        """Comparisons of some attributes; a value is one that rows have, or that none has."""
        chosen = self.random.sample(list(kind.fields), self.random.randint(0, min(2, len(kind.fields))))
        return {name: self._comparisons(name, kind.fields[name].type) for name in chosen}

    def _comparisons(self, name: str, kind: Any) -> Any:
        chosen = self.random.sample(list(kind.fields), self.random.choice((1, 1, 2)) if len(kind.fields) > 1 else 1)
        return {operator: self._value(name, GraphQLArgument(kind.fields[operator].type), "") for operator in chosen}

    def _range(self, kind: GraphQLInputObjectType) -> Any:
        inner = str(get_named_type(kind.fields["from"].type))
        ends: tuple[Any, ...] = (
            TIMES if inner == "DateTime" else ("0", "20.5", "40", "1000") if inner == "Decimal" else (0, 5, 99)
        )
        first, last = sorted(self.random.sample(range(len(ends)), 2))
        made = {"from": ends[first], "to": ends[last]}
        for end in ("from", "to"):
            if self.random.random() < 0.15:
                del made[end]
        return made


class _Name(str):
    """An enum's member: a name in a document, a text in variables."""

    __slots__ = ()


def _is_object(definition: GraphQLField) -> bool:
    return isinstance(get_named_type(definition.type), GraphQLObjectType | GraphQLInterfaceType)


def _literal(value: Any, kind: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case _Name() | int():
            return str(value)
        case list():
            return "[" + ", ".join(_literal(each, kind) for each in value) + "]"
        case dict():
            return "{" + ", ".join(f"{name}: {_literal(each, kind)}" for name, each in value.items()) + "}"
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _dropped(row: Row, name: str, _: random.Random) -> None:
    del row[name]


def _set(*values: Row) -> Callable[[Row, str, random.Random], None]:
    def change(row: Row, name: str, rng: random.Random) -> None:
        row[name] = rng.choice(values)

    return change


def _ttl(row: Row, name: str, rng: random.Random) -> None:
    row["ttl"] = rng.choice(({"N": "1"}, {"N": "99999999999"}, {"N": "1.5e3"}))


def _foreign(row: Row, name: str, rng: random.Random) -> None:
    row["PK"] = {"S": "TENANT#globex#ORDER#stolen"}


def _kind(row: Row, name: str, rng: random.Random) -> None:
    row["EntityType"] = {"S": rng.choice(("Order", "User", "Nothing"))}


DAMAGES: tuple[Callable[[Row, str, random.Random], None], ...] = (
    _dropped,
    _dropped,
    _set({"S": 'ö"\\\n\u2028 𝄞'}, {"S": ""}, {"S": "a b"}),
    _set({"N": "7"}, {"N": "-0"}, {"N": "1E+3"}, {"N": "99999999999"}, {"N": "0.10"}, {"N": "12.50"}, {"N": "007"}),
    _set({"N": "x"}, {"N": ""}, {"N": "NaN"}, {"N": "1" * 40}),
    _set({"NULL": True}, {"BOOL": False}, {"L": []}, {"M": {}}, {"SS": ["a"]}, {"B": "AAAA"}),
    _set(
        {"S": "2026-01-31T10:00:00.000000Z"},
        {"S": "2026-01-31T10:00:00.123456Z"},
        {"S": "2026-01-31T10:00:00+02:00"},
        {"S": "2026-01-31T10:00:00"},
        {"S": "2026-01-31T10:00:00.1234567Z"},
        {"S": "0999-01-31T10:00:00Z"},
    ),
    _ttl,
    _foreign,
    _kind,
)


def damage(rows: list[Row], rng: random.Random) -> str:
    """Changes some rows in place; the answer tells what was done."""
    changes = []
    for _ in range(rng.choice((1, 1, 3, 10))):
        row = rng.choice(rows)
        names = [name for name in row if name not in ("PK", "SK") and not name.startswith("GSI")]
        name, change = rng.choice(names), rng.choice(DAMAGES)
        change(row, name, rng)
        changes.append(f"{row['PK']['S']} {row['SK']['S']} {name}")
    return "; ".join(changes)
