"""The requests that a proof covers: every key that a formula names, with every value that AWS could set.

A set of values may have any size, but a formula only says "every value ..." and "some value ...". If a set satisfies
it, the subset with one value for each "some" satisfies it too. A set with one slot for each "some" therefore represents
sets of every size.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.iam.dynamodb.condition_keys import MULTIVALUED
from gateway.iam.formal.errors import NotProvable
from gateway.iam.formal.formula import (
    ACTION,
    ARN,
    CALLER,
    ArnLike,
    Every,
    Filled,
    Formula,
    Like,
    Occurrence,
    Pattern,
    Piece,
    Ref,
    Scalar,
    Some,
    negated,
    occurrences,
)
from gateway.iam.formal.representatives import examples, representatives, text_classes
from gateway.iam.formal.solver.z3_strings import AnyText, ListedText, Texts
from gateway.iam.formal.string_patterns import WHOLE, Split
from gateway.iam.language.glob import Wild
from gateway.iam.language.variables import Value

Text = AnyText | ListedText
_Place = tuple[str, int, bool]
"""A piece of the text of a key: the key, the number of the part, and whether the rest after the part is meant."""
_SETS: Final = frozenset(key.lower() for key in MULTIVALUED)
_ALWAYS: Final = frozenset((ACTION, CALLER))


@dataclass(frozen=True, slots=True)
class TextParts:
    """A text, whole or in parts: the parts, whether each part but the last is followed by another, and the rest."""

    whole: Text | None = None
    parts: tuple[Text, ...] = ()
    follows: tuple[Any, ...] = ()
    tail: Text | None = None

    def more(self, index: int) -> Any:
        """Whether something follows this part; None if only the text shows it."""
        return self.follows[index] if 0 <= index < len(self.follows) else None

    def piece(self, piece: Piece) -> Text:
        text = self.whole if piece.index < 0 else self.tail if piece.rest else self.parts[piece.index]
        if text is None or (piece.rest and 0 <= piece.index < len(self.parts) - 1):
            raise TypeError(f"the text has no piece {piece}")
        return text

    def read(self, model: Any, delimiter: str) -> str:
        if self.whole is not None:
            return self.whole.read(model)
        text = self.parts[0].read(model)
        for follows, part in zip(self.follows, self.parts[1:], strict=True):
            if not _is_true(model, follows):
                return text
            text += delimiter + part.read(model)
        return text + (self.tail.read(model) if self.tail else "")


@dataclass(frozen=True, slots=True)
class TextOf:
    """The text of a key, or one value of a set, which need not use all of its slots."""

    present: Any
    text: TextParts


@dataclass(frozen=True, slots=True)
class SetOfTexts:
    present: Any
    slots: tuple[TextOf, ...]


class Requests:
    """The variables of one query.

    `actions` limits the actions; None allows every name that an action could have. If `sampled`, texts come from a list
    even if no list can represent all texts: a request that is found is valid, but finding none proves nothing.
    """

    def __init__(
        self,
        texts: Texts,
        formula: Formula,
        splits: Mapping[str, Split],
        actions: Sequence[str] | None = None,
        *,
        sampled: bool = False,
    ) -> None:
        self._texts = texts
        self._splits = splits
        atoms = occurrences(formula)
        self._listed = _listed(atoms, splits, sampled=sampled) | (
            {(ACTION, -1, True): tuple(actions)} if actions is not None else {}
        )
        self._referred = _referred(atoms)
        self.domain: list[Any] = []
        self._places = _places(atoms)
        self._known: dict[str, TextOf | SetOfTexts] = {}

    def of(self, key: str) -> TextOf | SetOfTexts:
        """Returns the variables of a key, created on first use."""
        if key not in self._known:
            present = self._present(key)
            if key in _SETS:
                places = range(self._places.get(key, 1))
                slots = (TextOf(self._texts.truth(f"{key}[{at}]"), self._text(key, f"{key}[{at}]")) for at in places)
                self._known[key] = SetOfTexts(present, tuple(slots))
            else:
                self._known[key] = TextOf(present, self._text(key, key))
        return self._known[key]

    def facts(self, model: Any) -> dict[str, Value]:
        values: dict[str, Value] = {}
        for key, value in self._known.items():
            delimiter = self._splits.get(key, WHOLE).delimiter
            if not _is_true(model, value.present):
                continue
            if isinstance(value, TextOf):
                values[key] = value.text.read(model, delimiter)
            else:
                used = [slot.text for slot in value.slots if _is_true(model, slot.present)]
                values[key] = tuple(dict.fromkeys(text.read(model, delimiter) for text in used))
        return values

    def _present(self, key: str) -> Any:
        if key in _ALWAYS:
            return self._texts.true
        return self._texts.truth("present request:arn" if key in ARN else f"present {key}")

    def _text(self, key: str, name: str) -> TextParts:
        split = self._splits.get(key, WHOLE)
        if not split.depth:
            return TextParts(self._unit((key, -1, True), name))
        last = split.depth - 1
        parts = tuple(self._unit((key, at, False), f"{name} part {at}") for at in range(split.depth))
        follows = tuple(self._texts.truth(f"{name} more {at}") for at in range(last))
        tail = self._unit((key, last, True), f"{name} tail")
        if isinstance(tail, AnyText):
            self.domain.append(self._texts.any_of(tail.like(()), tail.like((split.delimiter, Wild.MANY))))
        return TextParts(None, parts, follows, tail)

    def _unit(self, place: _Place, name: str) -> Text:
        key, index, rest = place
        split = self._splits.get(key, WHOLE)
        banned = _banned(place, self._splits)
        if key in self._referred:
            banned |= {part.delimiter for part in self._splits.values() if part.depth}
        listed = self._listed.get(place)
        if listed is not None and key not in self._referred:
            tail = index >= 0 and rest
            fitting = [
                text
                for text in listed
                if not any(part in text for part in banned) and (not tail or text[:1] in ("", split.delimiter))
            ]
            listed_text, domain = self._texts.listed(name, fitting)
            self.domain.append(domain)
            return listed_text
        text, domain = self._texts.any(name, banned, action=key == ACTION)
        self.domain.append(domain)
        return text


def _banned(place: _Place, splits: Mapping[str, Split]) -> set[str]:
    """Returns the characters that the piece cannot contain."""
    key, index, rest = place
    if index >= 0 and not rest:
        return {splits[key].delimiter}
    return {":"} if key in ARN[:-1] else set()


def _is_true(model: Any, value: Any) -> bool:
    return str(model.eval(value, model_completion=True)) == "True"


def _places(atoms: Sequence[Occurrence]) -> dict[str, int]:
    """Returns the number of slots of each set: one for each `some`, and for each `every` that must fail."""
    needed: dict[str, set[Formula | None]] = {}
    for occurrence in atoms:
        match occurrence.formula:
            case Some(key, part) if occurrence.positive:
                needed.setdefault(key, set()).add(part)
            case Every(key, part) if not occurrence.positive:
                needed.setdefault(key, set()).add(negated(part))
            case Filled(key) if occurrence.positive:
                needed.setdefault(key, set()).add(None)
    return {key: max(1, len(parts)) for key, parts in needed.items()}


def _listed(
    atoms: Sequence[Occurrence], splits: Mapping[str, Split], *, sampled: bool
) -> dict[_Place, tuple[str, ...]]:
    """Returns the pieces for which a list of representative texts is enough."""
    # the rest after the last part starts with the delimiter, so the list must contain such a text
    tails = {(key, split.depth - 1, True): split.delimiter for key, split in splits.items() if split.depth}
    patterns: dict[_Place, list[Pattern]] = {place: [(text, Wild.MANY)] for place, text in tails.items()}
    samples: dict[_Place, list[str]] = {}
    others: set[str] = set()
    whole: set[str] = set()
    split = {key for key, place_patterns in splits.items() if place_patterns.depth}
    for occurrence in atoms:
        match occurrence.formula:
            case Like(Piece(_, index, rest), pattern, fold):
                patterns.setdefault((occurrence.subject, index, rest), []).append(pattern)
                others |= {occurrence.subject} if fold else set()
            case Scalar(_, _, texts):
                samples.setdefault((occurrence.subject, -1, True), []).extend(texts)
            case ArnLike():
                others.add(occurrence.subject)
                whole.add(occurrence.subject)
    mixed = others | _referred(atoms)
    for place in samples:
        # the samples represent all texts only for these tests; a pattern on the same key would need other texts
        if place[0] in mixed or place[0] in split or any(pattern != () for pattern in patterns.get(place, ())):
            raise NotProvable(f"`{place[0]}` is compared as a string and as a number, date, address or boolean")
    if whole & split:
        raise NotProvable(f"`{min(whole & split)}` is compared both as an ARN and in parts")
    listed = {
        place: _stand_ins(place, place_patterns, splits)
        for place, place_patterns in patterns.items()
        if place[0] not in others
    }
    fixed = {place: texts for place, texts in listed.items() if texts is not None}
    if sampled:
        fixed |= {
            place: examples(patterns[place], splits.get(place[0], WHOLE).delimiter)
            for place, texts in listed.items()
            if texts is None
        }
    return fixed | {place: ("", *dict.fromkeys(texts)) for place, texts in samples.items()}


def _stand_ins(place: _Place, patterns: list[Pattern], splits: Mapping[str, Split]) -> tuple[str, ...] | None:
    """Returns texts that represent all others of this piece."""
    texts = representatives(patterns)
    if texts is not None or place[0] == ACTION:
        return texts
    # `Filled` tests whether a text is empty, so the empty pattern is always included
    return text_classes(tuple(dict.fromkeys([(), *patterns])), "".join(sorted(_banned(place, splits))))


def _referred(atoms: Sequence[Occurrence]) -> frozenset[str]:
    """Returns the keys that variables refer to."""
    patterns = [occurrence.formula.pattern for occurrence in atoms if isinstance(occurrence.formula, Like)]
    return frozenset(token.key for pattern in patterns for token in pattern if isinstance(token, Ref))
