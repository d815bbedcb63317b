"""A formula for one choice of session tags; without variables in its patterns, a few texts represent all others.

A solver with a theory of strings is slow to find a request if a key must contain two tags. A request of the instance is
a request of the formula. If the instance has none, this proves nothing, and the formula itself is solved next.
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

_TEXTS: Final = ("initech", "u1", "umbrella", "u2")


Tags = Mapping[str, str | None]
"""The texts of tags; None for a tag that the session does not have."""


def tag_choices(formula: Formula) -> list[Tags]:
    """Returns texts for all keys that variables refer to, then without one of them; nothing if there are many."""
    atoms = (occurrence.formula for occurrence in occurrences(formula))
    keys = {token.key for atom in atoms if isinstance(atom, Like) for token in atom.pattern if isinstance(token, Ref)}
    others = {OTHER: "globex"} if OTHER in keys else {}
    tags = sorted(keys - {OTHER}, reverse=True)
    if not tags or len(tags) > len(_TEXTS):
        return []
    texts = others | dict(zip(tags, _TEXTS, strict=False))
    return [texts, *({**texts, tag: None} for tag in tags)]


def instance(formula: Formula, tags: Tags, splits: Mapping[str, Split]) -> Formula:
    """Returns the formula for these tags."""
    facts = {key: text for key, text in tags.items() if text is not None}

    def atom(part: Formula) -> Formula:
        match part:
            case Present(key) | Single(key) | Filled(key) if key in tags:
                return Constant(key in facts)
            case Like(piece, pattern, fold):
                texts = [tags[token.key] if isinstance(token, Ref) else token for token in pattern]
                tokens = tuple(token for token in texts if token is not None)
                like = Constant(False) if len(tokens) < len(texts) else Like(piece, merged(tokens), fold)
                return Constant(evaluator(like, splits)(facts)) if piece.subject in tags else like
            case ArnLike(subject) | Scalar(subject) if subject in tags:
                return Constant(evaluator(part, splits)(facts))
        return part

    return rewritten(formula, atom)
