"""Texts as z3 variables, and patterns as constraints on them."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from gateway.iam.formal.errors import NotProvable
from gateway.iam.formal.formula import Pattern, Ref
from gateway.iam.language.glob import Wild, compiled, merged
from gateway.iam.language.scalars import ascii_folded

Z3 = Any
_ESCAPE: Final = re.compile(r"\\u\{([0-9a-fA-F]+)\}")


def all_of(z3: Z3, parts: Sequence[Z3]) -> Z3:
    """Replaces `z3.And`, whose conversions take longer than the proof; every part is already a constraint."""
    return parts[0] if len(parts) == 1 else _joined(z3, z3.Z3_mk_and, parts)


def any_of(z3: Z3, parts: Sequence[Z3]) -> Z3:
    return parts[0] if len(parts) == 1 else _joined(z3, z3.Z3_mk_or, parts)


def _joined(z3: Z3, join: Callable[..., Any], parts: Sequence[Z3]) -> Z3:
    context = z3.main_ctx()
    array = (z3.Ast * len(parts))(*(part.ast for part in parts))
    return z3.BoolRef(join(context.ref(), len(parts), array), context)


@dataclass(frozen=True, slots=True)
class ListedText:
    """A text from a list; the solver chooses its index."""

    z3: Z3 = field(repr=False)
    name: str
    texts: tuple[str, ...]

    def passes(self, test: Callable[[str], bool]) -> Z3:
        return self._one_of([at for at, text in enumerate(self.texts) if test(text)])

    def like(self, pattern: Pattern, refs: Mapping[str, Z3] | None = None, *, fold: bool = False) -> Z3:
        return self._one_of(_matching(pattern, self.texts, fold))

    def read(self, model: Z3) -> str:
        return self.texts[int(model.eval(self.z3.Int(self.name), model_completion=True).as_long())]

    def _one_of(self, numbers: Sequence[int]) -> Z3:
        return any_of(self.z3, [_is_number(self.z3, self.name, at) for at in numbers])


@lru_cache(maxsize=65_536)
def _is_number(z3: Z3, name: str, at: int) -> Z3:
    """Returns the constraint that this index is chosen; cached, because z3's Python layer is slow."""
    return z3.Int(name) == at


@lru_cache(maxsize=65_536)
def _matching(pattern: Pattern, texts: tuple[str, ...], fold: bool) -> tuple[int, ...]:
    test = compiled(tuple(token for token in pattern if not isinstance(token, Ref)))
    return tuple(at for at, text in enumerate(texts) if test(ascii_folded(text) if fold else text))


@dataclass(frozen=True, slots=True)
class AnyText:
    """Any text, in the solver's theory of strings."""

    z3: Z3 = field(repr=False)
    text: Z3

    def like(self, pattern: Pattern, refs: Mapping[str, Z3] | None = None, *, fold: bool = False) -> Z3:
        pattern = merged(pattern)
        if not any(isinstance(token, Ref) for token in pattern):
            return self._fixed(pattern, fold)
        if fold or Wild.ONE in pattern:
            raise NotProvable("a variable beside `?`, or compared without case, cannot be decided")
        return self._around([self._joined(chunk, refs or {}) for chunk in _chunks(pattern)])

    def arn(self, patterns: tuple[Pattern, ...]) -> Z3:
        """Returns the constraint: the text is an ARN whose parts match; only the last part may contain a colon."""
        texts = Texts(self.z3)
        part = texts.character_but(":")
        parts = [texts.regex(pattern, part) for pattern in patterns[:-1]]
        separated = [regex for segment in (self.z3.Re("arn"), *parts) for regex in (segment, self.z3.Re(":"))]
        return self.z3.InRe(self.text, self.z3.Concat(*separated, texts.regex(patterns[-1], texts.character)))

    def read(self, model: Z3) -> str:
        text = str(model.eval(self.text, model_completion=True).as_string())
        return _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), text)

    def _fixed(self, pattern: Pattern, fold: bool) -> Z3:
        match pattern:
            case () if not fold:
                return self.text == ""
            case (str() as exact,) if not fold:
                return self.text == literal(self.z3, exact)
            case (str() as beginning, Wild.MANY) if not fold:
                return self.z3.PrefixOf(literal(self.z3, beginning), self.text)
        texts = Texts(self.z3)
        return self.z3.InRe(self.text, texts.regex(pattern, texts.character, fold))

    def _around(self, chunks: list[Z3 | None]) -> Z3:
        """Matches chunks with `*` between them; None is an empty chunk."""
        match chunks:
            case [only]:
                return self.text == only
            case [None, middle, None]:
                return self.z3.Contains(self.text, middle)
            case [first, last]:
                parts = [] if first is None else [self.z3.PrefixOf(first, self.text)]
                parts += [] if last is None else [self.z3.SuffixOf(last, self.text)]
                if first is not None and last is not None:
                    parts.append(self.z3.Length(self.text) >= self.z3.Length(first) + self.z3.Length(last))
                return self.z3.And(*parts)
        raise NotProvable("a variable among several `*` cannot be decided")

    def _joined(self, chunk: Pattern, refs: Mapping[str, Z3]) -> Z3 | None:
        parts = [refs[token.key] if isinstance(token, Ref) else literal(self.z3, str(token)) for token in chunk]
        return None if not parts else parts[0] if len(parts) == 1 else self.z3.Concat(*parts)


class Texts:
    """Creates the variables."""

    def __init__(self, z3: Z3) -> None:
        self._z3 = z3
        self.true = z3.BoolVal(True)
        self.character = z3.AllChar(z3.ReSort(z3.StringSort()))

    def truth(self, name: str) -> Z3:
        return self._z3.Bool(name)

    def any_of(self, *parts: Z3) -> Z3:
        return self._z3.Or(*parts)

    def listed(self, name: str, texts: Sequence[str]) -> tuple[ListedText, Z3]:
        """Returns the variable, and the constraint that defines it."""
        number = self._z3.Int(name)
        return ListedText(self._z3, name, tuple(texts)), self._z3.And(number >= 0, number < len(texts))

    def any(self, name: str, banned: Iterable[str], *, action: bool = False) -> tuple[AnyText, Z3]:
        text = self._z3.String(name)
        if action:
            return AnyText(self._z3, text), self._z3.InRe(text, self._action())
        clean = self._z3.Star(self.character_but(*sorted(banned))) if banned else None
        return AnyText(self._z3, text), self.true if clean is None else self._z3.InRe(text, clean)

    def character_but(self, *characters: str) -> Z3:
        banned = [self._z3.Re(literal(self._z3, character)) for character in characters]
        return self._z3.Diff(self.character, banned[0] if len(banned) == 1 else self._z3.Union(*banned))

    def regex(self, pattern: Pattern, character: Z3, fold: bool = False) -> Z3:
        parts = [part for token in merged(pattern) for part in self._token(token, character, fold)]
        return self._z3.Re("") if not parts else parts[0] if len(parts) == 1 else self._z3.Concat(*parts)

    def _token(self, token: object, character: Z3, fold: bool) -> list[Z3]:
        match token:
            case Wild.MANY:
                return [self._z3.Star(character)]
            case Wild.ONE:
                return [character]
        if not fold:
            return [self._z3.Re(literal(self._z3, str(token)))]
        return [self._either_case(char) for char in str(token)]

    def _either_case(self, char: str) -> Z3:
        if not (char.isascii() and char.isalpha()):
            return self._z3.Re(literal(self._z3, char))
        return self._z3.Union(self._z3.Re(char.lower()), self._z3.Re(char.upper()))

    def _action(self) -> Z3:
        letter = self._z3.Union(self._z3.Range("a", "z"), self._z3.Range("0", "9"))
        service = self._z3.Plus(self._z3.Union(letter, self._z3.Re("-")))
        return self._z3.Concat(service, self._z3.Re(":"), self._z3.Plus(letter))


def literal(z3: Z3, text: str) -> Z3:
    # the solver reads `\u{...}` as an escape, so every character that could start one is escaped
    plain = (
        char if char.isascii() and char.isprintable() and char != "\\" else f"\\u{{{ord(char):x}}}" for char in text
    )
    return z3.StringVal("".join(plain))


def _chunks(pattern: Pattern) -> list[Pattern]:
    """Splits the pattern at its `*`."""
    chunks: list[list[str | Wild | Ref]] = [[]]
    for token in pattern:
        if token is Wild.MANY:
            chunks.append([])
        else:
            chunks[-1].append(token)
    return [tuple(chunk) for chunk in chunks]
