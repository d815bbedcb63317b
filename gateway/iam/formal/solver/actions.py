"""The actions of a query: the known ones, and any other name that an action could have."""

import re
from itertools import permutations
from typing import Any, Final

from gateway.iam.formal.formula import ACTION, And, Formula, Like, Or, Pattern, Piece, occurrences
from gateway.iam.language.glob import Wild
from gateway.iam.policies.review import EVERY_ACTION
from gateway.iam.sts.assume_role import ASSUME_ACTIONS

_NAME = re.compile(r"[a-z0-9-]+:[a-z0-9]+")
KNOWN: Final = tuple(
    action.lower()
    for action in (
        *(f"dynamodb:{name}" for name in sorted(EVERY_ACTION)),
        *ASSUME_ACTIONS,
        *("kms:Decrypt", "kms:Encrypt", "dax:GetItem", "dynamodb:ActionOfNextYear", "s3:GetObject"),
    )
)
"""Tried first, because such a request can be sent."""


def named_in(formula: Formula) -> tuple[str, ...]:
    """Returns the known actions, and those that the formula names."""
    written = ("".join(token for token in pattern if isinstance(token, str)) for pattern in _patterns(formula))
    return tuple(dict.fromkeys((*KNOWN, *(text for text in written if _NAME.fullmatch(text)))))


def names_all(formula: Formula) -> bool:
    """Whether only actions that the formula names can satisfy it."""
    match formula:
        case And(parts):
            return any(map(names_all, parts))
        case Or(parts):
            return all(map(names_all, parts))
        case Like(Piece(subject), pattern):
            return subject == ACTION and all(isinstance(token, str) for token in pattern)
    return False


class OtherActions:
    """An action without a name, of which only the matching patterns are known.

    This includes combinations that no real name has, so it can prove that no such action exists, but not that one does.
    """

    def __init__(self, z3: Any, formula: Formula) -> None:
        self._z3 = z3
        wild = [pattern for pattern in _patterns(formula) if not all(isinstance(token, str) for token in pattern)]
        self._answers = {pattern: z3.Bool(f"action like {number}") for number, pattern in enumerate(wild)}

    def like(self, pattern: Pattern) -> Any:
        if pattern == (Wild.MANY,):
            return self._z3.BoolVal(True)
        return self._answers.get(pattern, self._z3.BoolVal(False))

    def domain(self) -> list[Any]:
        constraints: list[Any] = []
        for left, right in permutations(self._answers, 2):
            left_prefix, right_prefix = _beginning(left), _beginning(right)
            if right == (right_prefix, Wild.MANY) and left_prefix.startswith(right_prefix):
                constraints.append(self._z3.Implies(self._answers[left], self._answers[right]))
            elif not left_prefix.startswith(right_prefix) and not right_prefix.startswith(left_prefix):
                constraints.append(self._z3.Not(self._z3.And(self._answers[left], self._answers[right])))
        return constraints


def _beginning(pattern: Pattern) -> str:
    return pattern[0] if pattern and isinstance(pattern[0], str) else ""


def _patterns(formula: Formula) -> list[Pattern]:
    atoms = (occurrence.formula for occurrence in occurrences(formula) if occurrence.subject == ACTION)
    return list(dict.fromkeys(like.pattern for like in atoms if isinstance(like, Like)))
