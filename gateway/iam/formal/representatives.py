"""Texts that represent all others, so that a solver has to try only a few.

Whether a text equals or starts with one of some fixed texts depends only on which of them it is, and on its longest
matching prefix. A comparison of numbers, dates or addresses depends only on where a value lies between the values of
the policy. One text for each of these cases is enough.

Patterns with inner wildcards, such as `table/*/index/GSI1`, together form an automaton. They cannot distinguish texts
that end in states with the same matches, so the shortest text for each combination of matches is enough. This needs no
theory of strings, in which a solver can search for minutes.
"""

import base64
from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network
from itertools import islice, product
from typing import Final

from gateway.iam.formal.errors import NotProvable
from gateway.iam.formal.formula import Pattern, Ref
from gateway.iam.language import scalars
from gateway.iam.language.glob import Wild

_LETTERS: Final = "xyzabcdefghijklmnopqrstuvw0123456789"
_UNREADABLE: Final = "?"
_DIGITS: Final = 9
_LARGE: Final = Decimal(10) ** 15
_EXAMPLES: Final = 27
_STATES: Final = 3_000
_TINY: Final = Decimal("0.000000001")
"""Dates of AWS have at most nine decimal places, so no two values are closer than this."""


def representatives(patterns: Iterable[Pattern]) -> tuple[str, ...] | None:
    """Returns one text for each combination of matching patterns; None if a pattern is neither a text nor a prefix."""
    exact, beginnings = {""}, {""}
    for pattern in patterns:
        match pattern:
            case ():
                continue
            case (str() as text,):
                exact.add(text)
            case (str() as text, Wild.MANY):
                beginnings.add(text)
            case _:
                return None
    others = (_longer(beginning, exact | beginnings) for beginning in beginnings)
    return tuple(sorted({*exact, *beginnings, *others}))


def examples(patterns: Iterable[Pattern], delimiter: str) -> tuple[str, ...]:
    """Returns texts that match each pattern and some that match none: they can find a request, not exclude one."""
    texts = {"", "x"}
    for pattern in patterns:
        choices = (("", "x", f"{delimiter}x") if isinstance(token, Wild) else (str(token),) for token in pattern)
        texts |= {"".join(parts) for parts in islice(product(*choices), _EXAMPLES)}
    return tuple(sorted(texts))


def _longer(beginning: str, texts: set[str]) -> str:
    """Returns a text with this prefix that equals none of the texts and shares no longer prefix with one."""
    taken = {text[len(beginning)] for text in texts if text.startswith(beginning) and len(text) > len(beginning)}
    free = [letter for letter in _LETTERS if letter not in taken]
    return beginning + (free[0] if free else next(chr(code) for code in range(0x100, 0x1000) if chr(code) not in taken))


def samples(operator: str, values: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the samples for one row of a condition; those of a key are the samples of all its rows."""
    if operator.startswith("Numeric"):
        texts = [text for value in values for text in _around(scalars.number(value))]
    elif operator.startswith("Date"):
        texts = [text for value in values for text in _around(scalars.timestamp(value))]
    elif operator == "Bool":
        texts = ["true", "false"]
    elif operator == "BinaryEquals":
        texts = [*values, base64.b64encode(max(map(_octets, values), key=len) + b"x").decode()]
    else:
        texts = [text for value in values for text in _borders(scalars.network(value))]
    return (*dict.fromkeys(texts), _UNREADABLE)


def _around(value: Decimal | None) -> list[str]:
    if value is None:
        return []
    if value != round(value, _DIGITS) or abs(value) >= _LARGE:
        raise NotProvable(f"`{value}` has too many digits for a proof")
    # always with decimal places, because four digits alone would be read as a year
    return [f"{number:.{_DIGITS}f}" for number in (value - _TINY, value, value + _TINY)]


def _octets(text: str) -> bytes:
    return scalars.octets(text) or b""


def _borders(block: IPv4Network | IPv6Network | None) -> list[str]:
    if block is None:
        return []
    first, last = block[0], block[-1]
    inside = {first, last}
    outside = {first - 1} if int(first) else set()
    if int(last) < 2**block.max_prefixlen - 1:
        outside.add(last + 1)
    return [str(address) for address in sorted(inside | outside, key=int)]


@lru_cache(maxsize=1_024)
def text_classes(patterns: tuple[Pattern, ...], banned: str = "") -> tuple[str, ...] | None:
    """Returns one text for each combination of matching patterns that a text without banned characters can have.

    Returns None if a pattern refers to a tag, or if the automaton is too large.
    """
    if any(isinstance(token, Ref) for pattern in patterns for token in pattern):
        return None
    machines = [_Machine(pattern) for pattern in dict.fromkeys(patterns)]
    alphabet = _alphabet(machines, banned)
    start = tuple(machine.start for machine in machines)
    texts = {start: ""}
    answers: dict[tuple[bool, ...], str] = {}
    waiting = [start]
    for state in waiting:  # grows during the loop: breadth first, so the shortest text comes first
        answers.setdefault(
            tuple(machine.accepts(at) for machine, at in zip(machines, state, strict=True)), texts[state]
        )
        for character in alphabet:
            after = tuple(machine.step(at, character) for machine, at in zip(machines, state, strict=True))
            if after not in texts:
                texts[after] = texts[state] + character
                waiting.append(after)
        if len(texts) > _STATES:
            return None
    return tuple(answers.values())


def _alphabet(machines: list["_Machine"], banned: str) -> str:
    """Returns the characters of the patterns, and one that represents all others."""
    named = dict.fromkeys(token for machine in machines for token in machine.tokens if isinstance(token, str))
    others = (*_LETTERS, *map(chr, range(0x100, 0x1000)))
    other = next(letter for letter in others if letter not in named and letter not in banned)
    return "".join(character for character in (other, *named) if character not in banned)


class _Machine:
    """One pattern; a state is the set of possible positions in it after the text read so far, as bits."""

    def __init__(self, pattern: Pattern) -> None:
        self.tokens = [token for part in pattern for token in (part if isinstance(part, str) else (part,))]
        self.start = self._skipped(1)
        self._steps: dict[tuple[int, str], int] = {}

    def accepts(self, state: int) -> bool:
        return bool(state >> len(self.tokens))

    def step(self, state: int, character: str) -> int:
        after = self._steps.get((state, character))
        if after is None:
            after = self._steps[state, character] = self._step(state, character)
        return after

    def _step(self, state: int, character: str) -> int:
        after = 0
        for at, token in enumerate(self.tokens):
            if state >> at & 1:
                if token is Wild.MANY:
                    after |= 1 << at
                elif token is Wild.ONE or token == character:
                    after |= 1 << at + 1
        return self._skipped(after)

    def _skipped(self, state: int) -> int:
        """Adds the positions after a `*`, which may match nothing."""
        for at, token in enumerate(self.tokens):
            if token is Wild.MANY and state >> at & 1:
                state |= 1 << at + 1
        return state
