"""Texts that represent all others for patterns with inner wildcards, such as `table/*/index/GSI1`.

The patterns together form an automaton. The patterns cannot distinguish texts that end in states with the same matches,
so the shortest text for each combination of matches is enough. This needs no theory of strings, in which a solver can
search for minutes.
"""

from functools import lru_cache
from typing import Final

from gateway.iam.formal.formula import Pattern, Ref
from gateway.iam.language.glob import Wild

_STATES: Final = 3_000
_LETTERS: Final = "xyzabcdefghijklmnopqrstuvw0123456789"


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
