"""Finds the top-level attribute names in DynamoDB expressions, which is all that IAM looks at.

The result depends on the text alone and is cached by text; `#` placeholders are resolved for each request.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from gateway.iam.dynamodb.errors import NotUnderstood

_LIMIT: Final = 4_096  # the limit of DynamoDB; it also bounds the size of the cache
KEPT: Final = 1_024
_TOKEN = re.compile(
    r"[ \t\r\n]*(?:(?P<name>[A-Za-z_][A-Za-z0-9_]*|#[A-Za-z0-9_]+)|(?P<value>:[A-Za-z0-9_]+)"
    r"|(?P<number>[0-9]+)|(?P<mark><>|<=|>=|[=<>()\[\],.+-]))[ \t\r\n]*"
)
_CONNECTIVES: Final = frozenset(("AND", "OR", "NOT", "BETWEEN", "IN"))
_CLAUSES: Final = frozenset(("SET", "REMOVE", "ADD", "DELETE"))
_FUNCTIONS: Final = frozenset(
    ("attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains", "size")
)
_UPDATE_FUNCTIONS: Final = frozenset(("if_not_exists", "list_append"))


@dataclass(frozen=True, slots=True)
class ExpressionToken:
    kind: str
    text: str


@lru_cache(maxsize=KEPT)
def projection(text: str) -> tuple[str, ...]:
    """The top-level names of a list of paths, as written."""
    tokens = tokens_of(text)
    for token in tokens:
        if token.kind == "value" or (token.kind == "mark" and token.text not in ("[", "]", ".", ",")):
            raise NotUnderstood(f"`{token.text}` in a projection")
    return _heads(tokens, frozenset(), frozenset())


@lru_cache(maxsize=KEPT)
def condition(text: str) -> tuple[str, ...]:
    """The top-level names of a condition or filter, as written."""
    return _heads(tokens_of(text), _CONNECTIVES, _FUNCTIONS)


@lru_cache(maxsize=KEPT)
def update(text: str) -> tuple[str, ...]:
    """The top-level names of an update, targets and operands, as written."""
    return _heads(tokens_of(text), _CLAUSES, _UPDATE_FUNCTIONS)


def tokens_of(text: str) -> tuple[ExpressionToken, ...]:
    if len(text) > _LIMIT:
        raise NotUnderstood(f"an expression has at most {_LIMIT} characters")
    tokens: list[ExpressionToken] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise NotUnderstood(f"an expression cannot be read at character {at + 1}")
        tokens.append(ExpressionToken(match.lastgroup, match.group(match.lastgroup)))
        at = match.end()
    if not tokens:
        raise NotUnderstood("an expression is empty")
    return tuple(tokens)


def _heads(tokens: tuple[ExpressionToken, ...], words: frozenset[str], functions: frozenset[str]) -> tuple[str, ...]:
    """Every name that begins a path. Extra names only deny more, so the order of tokens is not checked further."""
    heads: list[str] = []
    padded = (None, *tokens, None)
    for before, token, after in zip(padded, tokens, padded[2:], strict=False):
        _check_place(token, before, after)
        if token.kind != "name" or (before is not None and before.text == "."):
            continue
        if token.text.upper() in words:
            continue
        if after is not None and after.text == "(":
            if token.text.lower() not in functions:
                raise NotUnderstood(f"unknown function `{token.text}`")
            continue
        heads.append(token.text)
    return tuple(dict.fromkeys(heads))


def _check_place(token: ExpressionToken, before: ExpressionToken | None, after: ExpressionToken | None) -> None:
    """Numbers and dots are valid only inside a path; elsewhere they could hide that a name begins a path."""
    if token.kind == "number" and not (before and after and before.text == "[" and after.text == "]"):
        raise NotUnderstood("a number outside of brackets in an expression")
    if token.text == "." and not (
        before and after and (before.kind == "name" or before.text == "]") and after.kind == "name"
    ):
        raise NotUnderstood("a dot outside of a path in an expression")


def resolved(written: Iterable[str], names: dict[str, str]) -> tuple[str, ...]:
    """The names with each `#alias` replaced once, as DynamoDB does."""
    try:
        return tuple([names[name] if name[0] == "#" else name for name in written])
    except KeyError as error:
        raise NotUnderstood(f"`{error.args[0]}` is not among the expression attribute names") from error
