"""A formula for one choice of session tags. Without variables inside its patterns, few texts stand for all others.

A solver with a theory of strings is slow to find a request if a key must contain two tags. A request of the instance is
a request of the formula; that the instance has none says nothing, so the formula itself is asked next.
"""

from collections.abc import Mapping
from typing import Final

from gateway.iam.formal.formula import (
    ArnLike,
    Constant,
    Filled,
    Formula,
    Like,
    Present,
    Ref,
    Scalar,
    Single,
    occurrences,
    rewritten,
)
from gateway.iam.formal.interpreter import evaluator
from gateway.iam.formal.specification import OTHER
from gateway.iam.formal.string_patterns import Split
from gateway.iam.language.glob import merged

_TEXTS: Final = ("acme", "u1", "initech", "u2")


def chosen_tags(formula: Formula) -> dict[str, str]:
    """A text for every key that a variable refers to, where there are several; else the formula itself is as fast."""
    patterns = (
        occurrence.formula.pattern for occurrence in occurrences(formula) if isinstance(occurrence.formula, Like)
    )
    keys = {token.key for pattern in patterns for token in pattern if isinstance(token, Ref)}
    others = {OTHER: "globex"} if OTHER in keys else {}
    tags = sorted(keys - {OTHER}, reverse=True)
    return others | dict(zip(tags, _TEXTS, strict=False)) if 1 < len(tags) <= len(_TEXTS) else {}


def instance(formula: Formula, tags: Mapping[str, str], splits: Mapping[str, Split]) -> Formula:
    """The formula for these tags."""

    def atom(part: Formula) -> Formula:
        match part:
            case Present(key) | Single(key) | Filled(key) if key in tags:
                return Constant(True)
            case Like(piece, pattern, fold):
                texts = tuple(tags[token.key] if isinstance(token, Ref) else token for token in pattern)
                like = Like(piece, merged(texts), fold)
                return Constant(evaluator(like, splits)(tags)) if piece.subject in tags else like
            case ArnLike(subject) | Scalar(subject) if subject in tags:
                return Constant(evaluator(part, splits)(tags))
        return part

    return rewritten(formula, atom)
