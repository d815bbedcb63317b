"""Patterns over texts that are split at a delimiter, which a solver can decide.

With `TENANT#${tag}#*` as a constraint on a whole text, an SMT solver tries all ways to cut two texts and does not
terminate. If the text is split into `TENANT`, a part without `#` and the rest, the same pattern is an equation: the
second part equals the tag. `gateway.iam.formal.solver.lemma` proves that both are equivalent if the tag contains no
delimiter.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from gateway.iam.formal.formula import TRUE, Formula, Like, Pattern, Piece, both, either, negated
from gateway.iam.language.glob import Wild, merged


@dataclass(frozen=True, slots=True)
class Split:
    """The first `depth` parts are split off at the delimiter; the rest stays one text. Depth 0 does not split."""

    delimiter: str
    depth: int


WHOLE: Final = Split("", 0)


def matches(subject: str, pattern: Pattern, split: Split = WHOLE, *, fold: bool = False) -> Formula:
    """Returns the formula: the text of the subject matches the pattern."""
    if not split.depth:
        return _like(Piece(subject), pattern, fold)
    return _Splitter(subject, split, fold).text(_characters(pattern), 0)


def part(subject: str, index: int) -> Piece:
    return Piece(subject, index, rest=False)


def rest(subject: str, index: int) -> Piece:
    return Piece(subject, index)


@lru_cache(maxsize=65_536)
def cut(text: str, split: Split, piece_index: int, piece_rest: bool) -> str:
    """Returns the piece of a text; a missing part is empty."""
    if piece_index < 0:
        return text
    parts = text.split(split.delimiter, piece_index + 1)
    if piece_rest:
        return split.delimiter + parts[piece_index + 1] if len(parts) > piece_index + 1 else ""
    return parts[piece_index] if len(parts) > piece_index else ""


@dataclass(frozen=True, slots=True)
class _Splitter:
    subject: str
    split: Split
    fold: bool

    def text(self, pattern: Pattern, index: int) -> Formula:
        """Returns the formula: part `index` and everything after it match the pattern."""
        if pattern == (Wild.MANY,):
            return TRUE
        options: list[Formula] = []
        for at in range(len(pattern) + 1):
            head, tail = pattern[:at], pattern[at:]
            if self.split.delimiter in head:
                break  # no part contains the delimiter
            if tail and tail[0] is Wild.MANY:
                # `*` may match across the delimiter, so it applies on both sides of it
                options.append(both(self._part((*head, Wild.MANY), index), self.rest(tail, index)))
            elif (not tail or tail[0] in (self.split.delimiter, Wild.ONE)) and head[-1:] != (Wild.MANY,):
                options.append(both(self._part(head, index), self.rest(tail, index)))
        return either(*options)

    def rest(self, pattern: Pattern, index: int) -> Formula:
        """Returns the formula: the rest after part `index` matches; it is empty or starts with the delimiter."""
        piece = rest(self.subject, index)
        if pattern == (Wild.MANY,) or index == self.split.depth - 1:
            return _like(piece, pattern, self.fold)
        empty = Like(piece, ())
        options: list[Formula] = [empty] if all(token is Wild.MANY for token in pattern) else []
        if pattern[:1] in ((self.split.delimiter,), (Wild.ONE,)):
            options.append(both(negated(empty), self.text(pattern[1:], index + 1)))
        elif pattern[:1] == (Wild.MANY,):
            options += [self.rest(pattern[1:], index), both(negated(empty), self.text(pattern, index + 1))]
        return either(*options)

    def _part(self, pattern: Pattern, index: int) -> Formula:
        return _like(part(self.subject, index), pattern, self.fold)


def _like(piece: Piece, pattern: Pattern, fold: bool) -> Formula:
    tokens = merged(pattern)
    return TRUE if tokens == (Wild.MANY,) else Like(piece, tokens, fold)


def _characters(pattern: Pattern) -> Pattern:
    return tuple(token for part in pattern for token in (part if isinstance(part, str) else (part,)))
