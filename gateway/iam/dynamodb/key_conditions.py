"""Parses the key condition of a Query: the names that it compares, and those that it fixes to one value."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from gateway.iam.dynamodb.errors import NotUnderstood
from gateway.iam.dynamodb.expressions import KEPT, ExpressionToken, tokens_of

_TURNED: Final = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class KeyCondition:
    """Names as written (`PK` or `#pk`): all of them, and those compared for equality, with their value placeholder.

    `comparisons` are all of its parts: the name, the operator and the value placeholders.
    """

    names: tuple[str, ...]
    equalities: tuple[tuple[str, str], ...]
    comparisons: tuple[tuple[str, str, tuple[str, ...]], ...]


@lru_cache(maxsize=KEPT)
def key_condition(text: str) -> KeyCondition:
    return _Reader(tokens_of(text)).read()


class _Reader:
    """Recursive descent over `comparison (AND comparison)*`, with parentheses."""

    _DEPTH: Final = 32

    def __init__(self, tokens: tuple[ExpressionToken, ...]) -> None:
        self._tokens = tokens
        self._at = 0
        self._comparisons: list[tuple[str, str, tuple[str, ...]]] = []

    def read(self) -> KeyCondition:
        self._conjunction(0)
        if self._at != len(self._tokens):
            raise NotUnderstood(f"`{self._tokens[self._at].text}` in a key condition")
        names = tuple(name for name, _, _ in self._comparisons)
        equalities = tuple((name, values[0]) for name, operator, values in self._comparisons if operator == "=")
        return KeyCondition(names, equalities, tuple(self._comparisons))

    def _conjunction(self, depth: int) -> None:
        if depth > self._DEPTH:
            raise NotUnderstood("a key condition is nested too deeply")
        self._term(depth)
        while self._word("AND"):
            self._term(depth)

    def _term(self, depth: int) -> None:
        if self._mark("("):
            self._conjunction(depth + 1)
            self._expect(")")
        elif self._word("begins_with"):
            self._expect("(")
            self._compare(self._operand(), "begins_with", self._operand(","))
            self._expect(")")
        else:
            self._comparison(self._operand())

    def _comparison(self, left: ExpressionToken) -> None:
        if self._word("BETWEEN"):
            low = self._operand()
            if not self._word("AND"):
                raise NotUnderstood("BETWEEN without AND in a key condition")
            self._compare(left, "BETWEEN", low, self._operand())
            return
        operator = self._next().text
        if operator not in _TURNED:
            raise NotUnderstood(f"`{operator}` in a key condition")
        right = self._operand()
        # `:v < #sk` means the same as `#sk > :v`.
        if left.kind == "value":
            left, operator, right = right, _TURNED[operator], left
        self._compare(left, operator, right)

    def _compare(self, name: ExpressionToken, operator: str, *values: ExpressionToken) -> None:
        if name.kind != "name" or any(value.kind != "value" for value in values):
            raise NotUnderstood("a key condition compares a name with values")
        self._comparisons.append((name.text, operator, tuple(value.text for value in values)))

    def _operand(self, after: str = "") -> ExpressionToken:
        if after:
            self._expect(after)
        token = self._next()
        if token.kind not in ("name", "value"):
            raise NotUnderstood(f"`{token.text}` in a key condition")
        return token

    def _next(self) -> ExpressionToken:
        if self._at >= len(self._tokens):
            raise NotUnderstood("a key condition ends too early")
        self._at += 1
        return self._tokens[self._at - 1]

    def _expect(self, mark: str) -> None:
        if not self._mark(mark):
            raise NotUnderstood(f"`{mark}` is missing in a key condition")

    def _mark(self, mark: str) -> bool:
        return self._take("mark", mark)

    def _word(self, word: str) -> bool:
        return self._take("name", word.lower())

    def _take(self, kind: str, text: str) -> bool:
        if self._at < len(self._tokens):
            token = self._tokens[self._at]
            if token.kind == kind and token.text.lower() == text:
                self._at += 1
                return True
        return False
