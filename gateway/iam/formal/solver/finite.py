"""Texts that stand for all others, where a text is only ever compared with fixed texts and fixed beginnings.

Whether a text equals one of some texts, or begins with one of some beginnings, depends on nothing but which of them it
is and the longest beginning that it has. One text for each of these answers is therefore all that a solver has to try.
"""

from collections.abc import Iterable
from typing import Final

from gateway.iam.formal.formula import Pattern
from gateway.iam.language.glob import Wild

_LETTERS: Final = "xyzabcdefghijklmnopqrstuvw0123456789"


def representatives(patterns: Iterable[Pattern]) -> tuple[str, ...] | None:
    """One text for each answer that the patterns can give; None where one of them is of another shape."""
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


def _longer(beginning: str, known: set[str]) -> str:
    """A text with this beginning that is none of the known ones and has no longer known beginning."""
    taken = {text[len(beginning)] for text in known if text.startswith(beginning) and len(text) > len(beginning)}
    free = [letter for letter in _LETTERS if letter not in taken]
    return beginning + (free[0] if free else next(chr(code) for code in range(0x100, 0x1000) if chr(code) not in taken))
