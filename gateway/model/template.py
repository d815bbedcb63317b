"""Key templates: `ORDER#{placedAt}#{orderId}` as a value that can be rendered, compared and explained.

A template is a sequence of segments between `#`; each is a literal or one hole. The tenant prefix is not part of it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

from gateway.errors import ModelError
from gateway.model.types import KEY_SEPARATOR

SHARD = "shard"
BUCKET = "bucket"
DERIVED = frozenset({SHARD, BUCKET})

_LITERAL = re.compile(r"[A-Z][A-Z0-9_]*")
_HOLE = re.compile(r"\{(?P<name>[a-zA-Z][a-zA-Z0-9]*)(?::(?P<width>[0-9]{1,2})(?:\.(?P<scale>[0-9]{1,2}))?)?\}")


@dataclass(frozen=True, slots=True)
class Literal:
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Hole:
    """Filled by an attribute, by the shard or by the time bucket; numbers have a width and a scale."""

    name: str
    width: int = 0
    scale: int = 0

    def __str__(self) -> str:
        return f"<{self.name}>"


Segment = Literal | Hole


@dataclass(frozen=True)
class Template:
    text: str
    segments: tuple[Segment, ...]

    @cached_property
    def holes(self) -> tuple[Hole, ...]:
        return tuple(segment for segment in self.segments if isinstance(segment, Hole))

    @cached_property
    def names(self) -> frozenset[str]:
        """The attributes in the template."""
        return frozenset(hole.name for hole in self.holes) - DERIVED

    @cached_property
    def pattern(self) -> str:
        """The template with `%s` for each hole; its words contain no `%`."""
        return KEY_SEPARATOR.join(segment.text if isinstance(segment, Literal) else "%s" for segment in self.segments)

    @cached_property
    def leading_literals(self) -> tuple[str, ...]:
        """The fixed words that it starts with."""
        return tuple(str(part) for part in takewhile(lambda part: isinstance(part, Literal), self.segments))

    def render(self, parts: Mapping[str, str]) -> str:
        return self.pattern % tuple([parts[hole.name] for hole in self.holes])

    def prefix(self, parts: Mapping[str, str]) -> str:
        """The text up to the first unfilled hole; it ends with `#` unless every hole is filled."""
        fixed: list[str] = []
        for segment in self.segments:
            if isinstance(segment, Hole) and segment.name not in parts:
                return KEY_SEPARATOR.join([*fixed, ""]) if fixed else ""
            fixed.append(segment.text if isinstance(segment, Literal) else parts[segment.name])
        return KEY_SEPARATOR.join(fixed)

    def readable(self) -> str:
        return KEY_SEPARATOR.join(str(segment) for segment in self.segments)


def parse_template(owner: str, text: str) -> Template:
    return Template(text, tuple(_segment(owner, text, part) for part in text.split(KEY_SEPARATOR)))


def _segment(owner: str, text: str, part: str) -> Segment:
    if _LITERAL.fullmatch(part):
        if part == "TENANT":
            raise ModelError(f"{owner}: key `{text}` writes the tenant prefix itself; the gateway adds it to every key")
        return Literal(part)
    if hole := _HOLE.fullmatch(part):
        return Hole(hole["name"], int(hole["width"] or 0), int(hole["scale"] or 0))
    raise ModelError(
        f"{owner}: key `{text}` has the part `{part}`; between two `#` there must be either a word in capitals "
        "or one {attribute}"
    )
