"""Evaluates a formula for one request in Python, which connects the proofs to the evaluator."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from gateway.iam.formal.formula import (
    ACTION,
    ARN,
    ELEMENT,
    And,
    ArnLike,
    Constant,
    Every,
    Filled,
    Formula,
    Like,
    Not,
    Or,
    Pattern,
    Present,
    Ref,
    Scalar,
    Single,
    Some,
)
from gateway.iam.formal.string_patterns import WHOLE, Split, cut
from gateway.iam.language import arn, glob
from gateway.iam.language.evaluator import lowered
from gateway.iam.language.scalars import ascii_folded
from gateway.iam.language.variables import Value
from gateway.iam.language.verdict import Authorisation

Facts = Mapping[str, Value]

_test = lru_cache(maxsize=65_536)(glob.compiled)


def facts(authorisation: Authorisation) -> dict[str, Value]:
    """Returns the request as values of the keys that formulas use."""
    values: dict[str, Value] = {**lowered(authorisation.context), ACTION: authorisation.action.lower()}
    parts = arn.segments(authorisation.resource)
    return values | dict(zip(ARN, parts[1:], strict=True)) if parts else values


def evaluator(formula: Formula, splits: Mapping[str, Split]) -> Callable[[Facts], bool]:
    """Returns the formula as a function of the facts."""
    return lambda request: _Evaluation(request, splits).holds(formula)


@dataclass(frozen=True, slots=True)
class _Evaluation:
    facts: Facts
    splits: Mapping[str, Split]

    def holds(self, formula: Formula, key: str = "", element: str = "") -> bool:
        """`key` is the set of the enclosing quantifier, and `element` one of its values."""
        match formula:
            case Constant(value):
                return value
            case And(parts):
                return all(self.holds(part, key, element) for part in parts)
            case Or(parts):
                return any(self.holds(part, key, element) for part in parts)
            case Not(part):
                return not self.holds(part, key, element)
            case Every(name, part) | Some(name, part):
                values, quantified = self.facts.get(name), all if isinstance(formula, Every) else any
                return isinstance(values, tuple) and quantified(self.holds(part, name, value) for value in values)
        return self._atom(formula, key, element)

    def _atom(self, formula: Formula, key: str, element: str) -> bool:
        match formula:
            case Present(name):
                return name in self.facts
            case Single(name):
                return isinstance(self.facts.get(name), str)
            case Filled(name):
                return bool(self.facts.get(name))
            case Like():
                return self._like(formula, key, element)
            case ArnLike(subject, patterns):
                text = self._text(subject, element)
                resolved = [self._resolved(pattern) for pattern in patterns]
                known = tuple(pattern for pattern in resolved if pattern is not None)
                return text is not None and len(known) == len(resolved) and arn.test((("arn",), *known))(text)
            case Scalar(subject, _, _, test):
                text = self._text(subject, element)
                return text is not None and test(text)
        raise TypeError(f"`{formula}` cannot be decided for one request")

    def _like(self, formula: Like, key: str, element: str) -> bool:
        piece = formula.piece
        text, pattern = self._text(piece.subject, element), self._resolved(formula.pattern)
        if text is None or pattern is None:
            return False
        split = self.splits.get(key if piece.subject == ELEMENT else piece.subject, WHOLE)
        text = cut(text, split, piece.index, piece.rest)
        if not formula.fold:
            return _test(pattern)(text)
        folded = tuple(ascii_folded(token) if isinstance(token, str) else token for token in pattern)
        return _test(folded)(ascii_folded(text))

    def _text(self, subject: str, element: str) -> str | None:
        """Returns the text of the subject; None if the request does not have it, or has a set of texts."""
        value = element if subject == ELEMENT else self.facts.get(subject)
        return value if isinstance(value, str) else None

    def _resolved(self, pattern: Pattern) -> glob.Pattern | None:
        """Returns the pattern with the texts that it refers to; None if one of them is not a text."""
        texts = [self.facts.get(token.key) if isinstance(token, Ref) else token for token in pattern]
        known = tuple(text for text in texts if text is not None and not isinstance(text, tuple))
        return known if len(known) == len(texts) else None
