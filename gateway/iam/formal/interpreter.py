"""Evaluates a formula for one request in Python, which connects the proofs to the evaluator."""

from collections.abc import Callable, Mapping
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
    Piece,
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
Holds = Callable[[Facts, str], bool]


def facts(authorisation: Authorisation) -> dict[str, Value]:
    """Returns the request as values of the keys that formulas use."""
    values: dict[str, Value] = {**lowered(authorisation.context), ACTION: authorisation.action.lower()}
    parts = arn.segments(authorisation.resource)
    return values | dict(zip(ARN, parts[1:], strict=True)) if parts else values


def evaluator(formula: Formula, splits: Mapping[str, Split]) -> Callable[[Facts], bool]:
    """Returns the formula as a function of the facts."""
    holds = _Evaluation(splits).closure(formula, "")
    return lambda request: holds(request, "")


class _Evaluation:
    """Compiles a formula to closures; equal parts share one closure."""

    def __init__(self, splits: Mapping[str, Split]) -> None:
        self._splits = splits
        self._closures: dict[tuple[Formula, str], Holds] = {}

    def closure(self, formula: Formula, key: str) -> Holds:
        """`key` is the set of the enclosing quantifier, or empty."""
        holds = self._closures.get((formula, key))
        if holds is None:
            holds = self._closures[formula, key] = self._make(formula, key)
        return holds

    def _make(self, formula: Formula, key: str) -> Holds:
        match formula:
            case Constant(value):
                return lambda request, element: value
            case And(parts):
                return _all([self.closure(part, key) for part in parts])
            case Or(parts):
                return _any(self._options(parts, key))
            case Not(part):
                inner = self.closure(part, key)
                return lambda request, element: not inner(request, element)
            case Every() | Some():
                return self._quantifier(formula)
        return self._atom(formula, key)

    def _options(self, parts: tuple[Formula, ...], key: str) -> list[Holds]:
        """Joins the fixed texts of one subject into a single lookup."""
        texts: dict[str, set[str]] = {}
        others: list[Holds] = []
        for part in parts:
            match part:
                case Like(Piece(subject, -1), (str() as text,), False):
                    texts.setdefault(subject, set()).add(text)
                case _:
                    others.append(self.closure(part, key))
        return [
            *(_tested(subject, _listed(frozenset(alternatives)), ()) for subject, alternatives in texts.items()),
            *others,
        ]

    def _quantifier(self, formula: Every | Some) -> Holds:
        key, inner = formula.key, self.closure(formula.part, formula.key)
        every = isinstance(formula, Every)

        def holds(request: Facts, element: str) -> bool:
            values = request.get(key)
            if type(values) is not tuple:
                return False
            return (
                all(inner(request, value) for value in values)
                if every
                else any(inner(request, value) for value in values)
            )

        return holds

    def _atom(self, formula: Formula, key: str) -> Holds:
        match formula:
            case Present(name):
                return lambda request, element: name in request
            case Single(name):
                return lambda request, element: type(request.get(name)) is str
            case Filled(name):
                return lambda request, element: bool(request.get(name))
            case Like():
                return self._like(formula, key)
            case ArnLike(subject, patterns):
                return _tested(subject, _arn_test(patterns), patterns)
            case Scalar(subject, _, _, test):
                return _tested(subject, lambda texts: test, ())
        raise TypeError(f"`{formula}` cannot be decided for one request")

    def _like(self, formula: Like, key: str) -> Holds:
        piece = formula.piece
        split = self._splits.get(key if piece.subject == ELEMENT else piece.subject, WHOLE)

        def test_of(texts: Mapping[str, str]) -> glob.Test:
            test = glob.compiled(_substituted(formula.pattern, texts, formula.fold))
            index, rest = piece.index, piece.rest
            if formula.fold:
                return lambda text: test(ascii_folded(cut(text, split, index, rest)))
            return test if index < 0 else lambda text: test(cut(text, split, index, rest))

        return _tested(piece.subject, test_of, (formula.pattern,))


def _all(parts: list[Holds]) -> Holds:
    def holds(request: Facts, element: str) -> bool:
        for part in parts:  # noqa: SIM110  # twice as fast as all()
            if not part(request, element):
                return False
        return True

    return holds


def _any(parts: list[Holds]) -> Holds:
    def holds(request: Facts, element: str) -> bool:
        for part in parts:  # noqa: SIM110  # twice as fast as any()
            if part(request, element):
                return True
        return False

    return holds


def _tested(subject: str, test_of: Callable[[Mapping[str, str]], glob.Test], patterns: tuple[Pattern, ...]) -> Holds:
    """Returns a test of the subject's text, built once for each combination of texts that its patterns refer to."""
    keys = tuple(dict.fromkeys(token.key for pattern in patterns for token in pattern if isinstance(token, Ref)))
    kept = lru_cache(maxsize=1_024)(lambda texts: test_of(dict(zip(keys, texts, strict=True))))
    fixed = None if keys else kept(())

    def holds(request: Facts, element: str) -> bool:
        text = element if subject == ELEMENT else request.get(subject)
        if type(text) is not str:
            return False
        if fixed is not None:
            return fixed(text)
        texts = tuple(request.get(key) for key in keys)
        return all(type(value) is str for value in texts) and kept(texts)(text)

    return holds


def _listed(texts: frozenset[str]) -> Callable[[Mapping[str, str]], glob.Test]:
    return lambda refs: texts.__contains__


def _arn_test(patterns: tuple[Pattern, ...]) -> Callable[[Mapping[str, str]], glob.Test]:
    return lambda texts: arn.test((("arn",), *(_substituted(pattern, texts) for pattern in patterns)))


def _substituted(pattern: Pattern, texts: Mapping[str, str], fold: bool = False) -> glob.Pattern:
    tokens = (texts[token.key] if isinstance(token, Ref) else token for token in pattern)
    return tuple(ascii_folded(token) if fold and isinstance(token, str) else token for token in tokens)
