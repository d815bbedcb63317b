"""Decides with an SMT solver whether any request satisfies a formula, and finds one if so."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, Literal

from gateway.iam.formal.errors import NotProvable
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
    UnwrittenStatement,
    both,
    keys_of,
)
from gateway.iam.formal.solver.actions import OtherActions, named_in, names_all
from gateway.iam.formal.solver.instance import Tags, instance, tag_choices
from gateway.iam.formal.solver.request_space import Requests, SetOfTexts, TextOf
from gateway.iam.formal.solver.z3_strings import AnyText, Texts, all_of, any_of
from gateway.iam.formal.string_patterns import Split
from gateway.iam.language.variables import Value

INSTALL: Final = "the solver is not installed: pip install 'tenant-graphql-gateway[proof]'"
WORK: Final = 10_000_000
"""The most that the solver does for one question, in its own unit: seconds would depend on what else runs."""
_WISH_WORK: Final = 1_000_000
_SEED: Final = 0
_ONE_TAG: Final = 2  # choices: with the tag, and without it

Answer = Literal["impossible", "possible", "undecided"]


@dataclass(frozen=True, slots=True)
class Solution:
    """`facts` is a request that satisfies the formula, if there is one; `unknowns` are the statements left open."""

    answer: Answer
    facts: Mapping[str, Value]
    unknowns: Mapping[str, bool]


@cache
def z3_module() -> Any:
    """Imports the solver on first use."""
    try:
        import z3  # noqa: PLC0415
    except ImportError as error:
        raise NotProvable(INSTALL) from error
    return z3


def solve(
    formula: Formula, splits: Mapping[str, Split], preferred: Sequence[Formula] = (), work: int = WORK
) -> Solution:
    """Solves the formula; `preferred` are wishes that make the solution readable, each met if possible.

    Known actions are tried first, because such a request can be sent; then every name that an action could have.
    """
    solution = _with_known_action(formula, splits, work)
    if solution.answer == "possible":
        return _refined(solution, formula, splits, preferred)
    if solution.answer == "undecided" or names_all(formula):
        return solution
    if _Search(formula, splits, OtherActions(z3_module(), formula)).solved([formula], work).answer == "impossible":
        return solution
    return _Search(formula, splits).solved([formula], work)


def _with_known_action(formula: Formula, splits: Mapping[str, Split], work: int) -> Solution:
    """Tries fixed tags first if that is faster, and otherwise last, if the formula for all tags is not decided."""
    choices = tag_choices(formula)
    several = len(choices) > _ONE_TAG
    if several and (example := _example(formula, splits, choices, work)) is not None:
        return example
    solution = _Search(formula, splits, named_in(formula)).solved([formula], work)
    if solution.answer == "undecided" and not several:
        return _example(formula, splits, choices, work) or solution
    return solution


def _example(formula: Formula, splits: Mapping[str, Split], choices: Sequence[Tags], work: int) -> Solution | None:
    """Finds a request with one of these choices of tags."""
    for tags in choices:
        part = instance(formula, tags, splits)
        solution = _Search(part, splits, named_in(formula), sampled=True).solved([part], work)
        if solution.answer == "possible":
            return replace(solution, facts={**solution.facts, **{key: text for key, text in tags.items() if text}})
    return None


def _refined(
    solution: Solution, formula: Formula, splits: Mapping[str, Split], preferred: Sequence[Formula]
) -> Solution:
    """Drops each wish that the solver cannot meet quickly, because wishes only make the solution readable."""
    keys = keys_of(formula) | {ACTION, *ARN}
    wishes = [wish for wish in preferred if keys_of(wish) <= keys]
    search = _Search(both(formula, *wishes), splits, named_in(formula))
    kept = [formula]
    for wish in wishes:
        better = search.solved([*kept, wish], _WISH_WORK)
        if better.answer == "possible":
            kept.append(wish)
            solution = better
    return solution


class _Search:
    """Translates one formula and its request variables for the solver."""

    def __init__(
        self,
        formula: Formula,
        splits: Mapping[str, Split],
        actions: tuple[str, ...] | OtherActions | None = None,
        *,
        sampled: bool = False,
    ) -> None:
        self._z3 = z3_module()
        self._others = actions if isinstance(actions, OtherActions) else None
        listed = actions if isinstance(actions, tuple) else None
        self._requests = Requests(Texts(self._z3), formula, splits, listed, sampled=sampled)
        self._unknowns: dict[str, Any] = {}
        self._made: dict[tuple[Formula, int], Any] = {}
        self._model: Any = None
        self._false = self._z3.BoolVal(False)

    def solved(self, formulas: Sequence[Formula], work: int) -> Solution:
        answer = self._check([self._translated(formula) for formula in formulas], work)
        return self._solution() if answer == "possible" else Solution(answer, {}, {})

    def _check(self, constraints: Sequence[Any], work: int) -> Answer:
        solver = self._z3.Solver()
        solver.set("random_seed", _SEED)
        solver.set("rlimit", work)
        solver.add(*self._requests.domain, *(self._others.domain() if self._others else ()), *constraints)
        verdict = solver.check()
        if verdict == self._z3.sat:
            self._model = solver.model()
            return "possible"
        return "impossible" if verdict == self._z3.unsat else "undecided"

    def _solution(self) -> Solution:
        values = {name: self._model.eval(unknown, model_completion=True) for name, unknown in self._unknowns.items()}
        unknowns = {name: bool(self._z3.is_true(value)) for name, value in values.items()}
        return Solution("possible", self._requests.facts(self._model), unknowns)

    def _translated(self, formula: Formula, slot: TextOf | None = None) -> Any:
        """Cached by formula and slot, because z3's Python layer is slow."""
        place = (formula, id(slot))
        if place not in self._made:
            self._made[place] = self._constraint(formula, slot)
        return self._made[place]

    def _constraint(self, formula: Formula, slot: TextOf | None) -> Any:
        match formula:
            case Constant(value):
                return self._z3.BoolVal(value)
            case And(parts):
                return all_of(self._z3, [self._translated(part, slot) for part in parts])
            case Or(parts):
                return any_of(self._z3, [self._translated(part, slot) for part in parts])
            case Not(part):
                return self._z3.Not(self._translated(part, slot))
            case Every(key, part):
                return self._quantified(key, part, every=True)
            case Some(key, part):
                return self._quantified(key, part, every=False)
            case UnwrittenStatement(name):
                return self._unknowns.setdefault(name, self._z3.Bool(f"unknown {name}"))
        return self._atom(formula, slot)

    def _quantified(self, key: str, part: Formula, *, every: bool) -> Any:
        values = self._requests.of(key)
        if isinstance(values, TextOf):
            return self._false
        held = [(slot.present, self._translated(part, slot)) for slot in values.slots]
        if every:
            return all_of(self._z3, [values.present, *(self._z3.Implies(used, holds) for used, holds in held)])
        some = any_of(self._z3, [all_of(self._z3, pair) for pair in held])
        return all_of(self._z3, (values.present, some))

    def _atom(self, formula: Formula, slot: TextOf | None) -> Any:
        match formula:
            case Present(key):
                return self._requests.of(key).present
            case Single(key):
                value = self._requests.of(key)
                return value.present if isinstance(value, TextOf) else self._false
            case Filled(key):
                return self._filled(self._requests.of(key))
            case Like(piece):
                return self._like(formula, piece, slot)
            case ArnLike(subject, patterns):
                text = self._subject(subject, slot)
                return self._false if text is None else self._is_arn(text, patterns)
            case Scalar(subject, _, _, test):
                text = self._subject(subject, slot)
                return self._false if text is None else self._z3.And(text.present, _whole(text).passes(test))
        raise TypeError(f"no translation of `{formula}`")

    def _filled(self, value: TextOf | SetOfTexts) -> Any:
        if isinstance(value, SetOfTexts):
            return self._z3.And(value.present, self._z3.Or(*(slot.present for slot in value.slots)))
        return self._z3.And(value.present, self._z3.Not(_whole(value).like(())))

    def _like(self, like: Like, piece: Piece, slot: TextOf | None) -> Any:
        if piece.subject == ACTION and self._others is not None:
            return self._others.like(like.pattern)
        text = self._subject(piece.subject, slot)
        if text is None:
            return self._false
        if piece.rest and like.pattern == () and (more := text.text.more(piece.index)) is not None:
            return self._z3.And(text.present, self._z3.Not(more))
        refs: dict[str, Any] = {}
        guards = [text.present]
        for key in (token.key for token in like.pattern if isinstance(token, Ref)):
            referred = self._requests.of(key)
            if isinstance(referred, SetOfTexts):
                return self._false
            refs[key] = _any(referred).text
            guards.append(referred.present)
        return all_of(self._z3, [*guards, text.text.piece(piece).like(like.pattern, refs, fold=like.fold)])

    def _is_arn(self, text: TextOf, patterns: tuple[Pattern, ...]) -> Any:
        if any(isinstance(token, Ref) for pattern in patterns for token in pattern):
            raise NotProvable("a variable inside the ARN of a condition cannot be decided")
        return self._z3.And(text.present, _any(text).arn(patterns))

    def _subject(self, subject: str, slot: TextOf | None) -> TextOf | None:
        """Returns the text that an atom tests; None if the key holds a set."""
        if subject != ELEMENT:
            value = self._requests.of(subject)
            return value if isinstance(value, TextOf) else None
        if slot is None:
            raise TypeError("an element outside of its set")
        return TextOf(self._z3.BoolVal(True), slot.text)


def _whole(value: TextOf) -> Any:
    return value.text.piece(Piece(""))


def _any(value: TextOf) -> AnyText:
    whole = _whole(value)
    if not isinstance(whole, AnyText):
        raise TypeError("a text that others refer to is not listed")
    return whole
