"""Regular expressions that match in time proportional to the text, whatever the pattern and the text are.

Python's own `re` backtracks: `(a+)+b` takes hours for a text of forty letters. So a pattern is only parsed by `re`,
and matched here by following all of its paths in parallel.
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from re import _constants as sre  # type: ignore[attr-defined]  # the parser of re has no public name
from re import _parser as parser  # type: ignore[attr-defined]  # the same
from typing import Any

_MAX_STATES = 2_000

Accepts = Callable[[str], bool]


class UnsafePattern(Exception):
    """The reason why a pattern is refused."""


class LinearPattern:
    """A regular expression over the whole text: literals, classes, groups, alternatives and repeats."""

    def __init__(self, text: str) -> None:
        try:
            parsed = parser.parse(text)
        except (re.error, RecursionError, OverflowError) as error:
            raise UnsafePattern(f"does not compile: {error}") from error
        if parsed.state.flags & ~re.UNICODE.value:
            raise UnsafePattern("has flags; write them out, such as [Aa]")
        # each state accepts one character and leads to the next states; those without a test continue immediately
        self._accepts: list[Accepts | None] = []
        self._next: list[tuple[int, ...]] = []
        self._end = self._state(None, ())
        self._start = self._closure([self._sequence(parsed, self._end)])

    def matches(self, text: str) -> bool:
        states = self._start
        for sign in text:
            reached = [target for state in states if self._passes(state, sign) for target in self._next[state]]
            states = self._closure(reached)
            if not states:
                return False
        return self._end in states

    def _passes(self, state: int, sign: str) -> bool:
        accepts = self._accepts[state]
        return accepts is not None and accepts(sign)

    def _closure(self, states: Iterable[int]) -> frozenset[int]:
        reached, waiting = set[int](), list(states)
        while waiting:
            state = waiting.pop()
            if state not in reached:
                reached.add(state)
                if self._accepts[state] is None:
                    waiting.extend(self._next[state])
        return frozenset(reached)

    def _state(self, accepts: Accepts | None, targets: tuple[int, ...]) -> int:
        if len(self._accepts) >= _MAX_STATES:
            raise UnsafePattern("repeats too much; say how long a text may be with `min` and `max`")
        self._accepts.append(accepts)
        self._next.append(targets)
        return len(self._accepts) - 1

    def _sequence(self, nodes: Any, then: int) -> int:
        for kind, value in reversed(list(nodes)):
            then = self._node(kind, value, then)
        return then

    def _node(self, kind: Any, value: Any, then: int) -> int:
        if kind in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN):
            return self._state(_character(kind, value), (then,))
        if kind is sre.SUBPATTERN:
            _, added, dropped, inner = value
            if added or dropped:
                raise UnsafePattern("has flags; write them out, such as [Aa]")
            return self._sequence(inner, then)
        if kind is sre.BRANCH:
            return self._state(None, tuple(self._sequence(branch, then) for branch in value[1]))
        if kind is sre.MAX_REPEAT:
            least, most, inner = value
            return self._repeat(least, most, inner, then)
        raise UnsafePattern(f"uses {str(kind).lower().replace('_', ' ')}, which cannot be matched in linear time")

    def _repeat(self, least: int, most: Any, inner: Any, then: int) -> int:
        if most is sre.MAXREPEAT:
            loop = self._state(None, ())
            self._next[loop] = (self._sequence(inner, loop), then)
            then = loop
        else:
            for _ in range(int(most) - least):
                then = self._state(None, (self._sequence(inner, then), then))
        for _ in range(least):
            then = self._sequence(inner, then)
        return then


def _character(kind: Any, value: Any) -> Accepts:
    if kind is sre.ANY:
        return lambda sign: sign != "\n"
    if kind is sre.LITERAL:
        return chr(value).__eq__
    if kind is sre.NOT_LITERAL:
        return chr(value).__ne__
    negated = value[0][0] is sre.NEGATE
    members = [_member(*member) for member in (value[1:] if negated else value)]
    return lambda sign: any(member(sign) for member in members) is not negated


_DIGIT, _SPACE, _WORD = (re.compile(text).match for text in (r"\d", r"\s", r"\w"))
_CATEGORIES: dict[Any, Accepts] = {
    sre.CATEGORY_DIGIT: lambda sign: _DIGIT(sign) is not None,
    sre.CATEGORY_NOT_DIGIT: lambda sign: _DIGIT(sign) is None,
    sre.CATEGORY_SPACE: lambda sign: _SPACE(sign) is not None,
    sre.CATEGORY_NOT_SPACE: lambda sign: _SPACE(sign) is None,
    sre.CATEGORY_WORD: lambda sign: _WORD(sign) is not None,
    sre.CATEGORY_NOT_WORD: lambda sign: _WORD(sign) is None,
}


def _member(kind: Any, value: Any) -> Accepts:
    if kind is sre.RANGE:
        low, high = map(chr, value)
        return lambda sign: low <= sign <= high
    if kind is sre.CATEGORY:
        return _CATEGORIES[value]
    return chr(value).__eq__


@lru_cache(maxsize=1_024)
def compiled(text: str) -> LinearPattern:
    """The pattern, compiled once; raises `UnsafePattern`."""
    return LinearPattern(text)


def pattern_faults(text: str | None) -> list[str]:
    if text is None:
        return []
    try:
        compiled(text)
    except UnsafePattern as error:
        return [f"its pattern `{text}` {error}"]
    except TypeError:
        return [f"its pattern is {text!r}; write a string"]
    return []
