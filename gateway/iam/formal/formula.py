"""Formulas about one authorisation: trees that Python evaluates for one request, and a solver decides for all."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from gateway.iam.language.glob import Wild

ELEMENT: Final = "request:element"
"""The subject inside `Every` and `Some`: one value of the set."""
ACTION: Final = "request:action"
ARN: Final = ("request:partition", "request:service", "request:region", "request:account", "request:name")
"""The parts of the resource's ARN after `arn:`; all of them are absent if the resource is not an ARN."""
CALLER: Final = "request:caller"
"""The user or role that calls STS; its own session, if it has one, is `CALLER_SESSION`."""
CALLER_SESSION: Final = "request:caller-session"


@dataclass(frozen=True, slots=True)
class Ref:
    """The text of another key, matched literally: the value of a policy variable."""

    key: str


Pattern = tuple[str | Wild | Ref, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text that is split at a delimiter: part number `index`, or with `rest` everything after it.

    `index` -1 with `rest` means the whole text.
    """

    subject: str
    index: int = -1
    rest: bool = True


@dataclass(frozen=True, slots=True)
class Constant:
    value: bool


@dataclass(frozen=True, slots=True)
class _Junction:
    """Keeps its hash: formulas are looked up often, and computing it visits every part."""

    parts: tuple["Formula", ...]
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((type(self).__name__, self.parts)))

    def __hash__(self) -> int:
        return self._hash


class And(_Junction):
    __slots__ = ()


class Or(_Junction):
    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Not:
    part: "Formula"


@dataclass(frozen=True, slots=True)
class Present:
    """The request has the key, possibly with an empty text or an empty set."""

    key: str


@dataclass(frozen=True, slots=True)
class Single:
    """The key holds one text, not a set of them."""

    key: str


@dataclass(frozen=True, slots=True)
class Filled:
    """The key holds a text or a set that is not empty."""

    key: str


@dataclass(frozen=True, slots=True)
class Every:
    """The key holds a set, and every value of it satisfies the part."""

    key: str
    part: "Formula"


@dataclass(frozen=True, slots=True)
class Some:
    """The key holds a set, and at least one value of it satisfies the part."""

    key: str
    part: "Formula"


@dataclass(frozen=True, slots=True)
class Like:
    """The piece matches the pattern; `fold` ignores the case of A to Z."""

    piece: Piece
    pattern: Pattern
    fold: bool = False


@dataclass(frozen=True, slots=True)
class ArnLike:
    """The text is an ARN whose parts after `arn:` match the patterns one by one."""

    subject: str
    patterns: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Scalar:
    """The text, read as a number, date, address, boolean or bytes, passes a test.

    `samples` cover every combination of outcomes that the tests of one key can have.
    """

    subject: str
    label: str
    samples: tuple[str, ...]
    test: Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class UnwrittenStatement:
    """A statement that is left open; the solver chooses whether it holds."""

    name: str


Formula = (
    Constant | And | Or | Not | Present | Single | Filled | Every | Some | Like | ArnLike | Scalar | UnwrittenStatement
)


TRUE: Final = Constant(True)
FALSE: Final = Constant(False)


def both(*parts: Formula) -> Formula:
    """Returns the conjunction, flattened and without constants."""
    return _joined(And, parts, neutral=TRUE, decisive=FALSE)


def either(*parts: Formula) -> Formula:
    """Returns the disjunction, flattened and without constants."""
    return _joined(Or, parts, neutral=FALSE, decisive=TRUE)


def _joined(kind: type[And | Or], parts: tuple[Formula, ...], *, neutral: Constant, decisive: Constant) -> Formula:
    distinct: dict[Formula, None] = {}
    for part in parts:
        if part == decisive:
            return decisive
        distinct.update(dict.fromkeys(part.parts if isinstance(part, kind) else () if part == neutral else (part,)))
    kept = tuple(distinct)
    return neutral if not kept else kept[0] if len(kept) == 1 else kind(kept)


def negated(part: Formula) -> Formula:
    match part:
        case Constant(value):
            return FALSE if value else TRUE
        case Not(inner):
            return inner
    return Not(part)


def rewritten(formula: Formula, atom: Callable[[Formula], Formula]) -> Formula:
    """Returns the formula with each atom replaced by the result of `atom`."""
    match formula:
        case And(parts):
            return both(*(rewritten(part, atom) for part in parts))
        case Or(parts):
            return either(*(rewritten(part, atom) for part in parts))
        case Not(part):
            return negated(rewritten(part, atom))
        case Every(key, part):
            return Every(key, rewritten(part, atom))
        case Some(key, part):
            return Some(key, rewritten(part, atom))
    return atom(formula)


def is_text(subject: str, text: str) -> Like:
    return Like(Piece(subject), (text,) if text else ())


def one_of(subject: str, *texts: str) -> Formula:
    return either(*(is_text(subject, text) for text in texts))


@dataclass(frozen=True, slots=True)
class Occurrence:
    """An atom or quantifier with its position: inside the quantifier over `key`, and not negated if `positive`."""

    formula: Formula
    key: str
    positive: bool

    @property
    def subject(self) -> str:
        """The key whose text the atom tests."""
        match self.formula:
            case Like(Piece(subject)) | ArnLike(subject) | Scalar(subject):
                return self.key if subject == ELEMENT else subject
        return ""


@lru_cache(maxsize=256)
def occurrences(formula: Formula) -> tuple[Occurrence, ...]:
    result: list[Occurrence] = []
    _collect(formula, "", True, result)
    return tuple(result)


def _collect(formula: Formula, key: str, positive: bool, collected: list[Occurrence]) -> None:
    match formula:
        case And(parts) | Or(parts):
            for part in parts:
                _collect(part, key, positive, collected)
        case Not(part):
            _collect(part, key, not positive, collected)
        case Every(inner, part) | Some(inner, part):
            collected.append(Occurrence(formula, key, positive))
            _collect(part, inner, positive, collected)
        case Constant():
            return
        case _:
            collected.append(Occurrence(formula, key, positive))


def keys_of(formula: Formula) -> frozenset[str]:
    """Returns every key that the formula refers to, including those inside its patterns."""
    keys: set[str] = set()
    for occurrence in occurrences(formula):
        match occurrence.formula:
            case Every(key) | Some(key) | Present(key) | Single(key) | Filled(key):
                keys.add(key)
            case Like(_, pattern):
                keys |= {occurrence.subject, *(token.key for token in pattern if isinstance(token, Ref))}
            case ArnLike() | Scalar():
                keys.add(occurrence.subject)
    return frozenset(keys)
