"""The base classes of attribute types: stored form, key form, GraphQL scalar and documentation."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from gateway.errors import BadUserInput

KEY_SEPARATOR = "#"

Wire = dict[str, Any]  # a value in DynamoDB JSON, such as {"S": "text"}
Decode = Callable[[Wire], Any]


@dataclass(frozen=True, slots=True)
class ScalarSpec:
    """A GraphQL scalar; GraphQL's own scalars need no functions.

    `python` is the Python type of its values, which must be unique in a schema: a scalar whose values are strings
    uses a `NewType` of `str`.
    """

    name: str
    python: Any
    description: str = ""
    specified_by: str = ""
    serialize: Callable[[Any], Any] | None = None  # to JSON
    parse: Callable[[Any], Any] | None = None  # from JSON; raises BadUserInput


STRING = ScalarSpec("String", str)


class AttributeType(ABC):
    """A type is a frozen dataclass; its values are immutable and have a complete `repr`.

    Methods that take a value also take the name of the attribute, for the `BadUserInput` that an invalid value
    raises.
    """

    __slots__ = ()

    tag: ClassVar[str]  # DynamoDB's type descriptor, such as "S"
    scalar: ClassVar[ScalarSpec | None] = None  # None for values with their own GraphQL syntax: enums, lists, objects
    ordered: ClassVar[bool] = False  # whether callers may request a range of values

    @property
    @abstractmethod
    def documentation(self) -> str:
        """The type in a table of the documentation."""

    @property
    @abstractmethod
    def sample(self) -> Any:
        """Any valid value."""

    @abstractmethod
    def encode(self, name: str, value: Any) -> Wire:
        """The value as it is stored."""

    @abstractmethod
    def decoder(self) -> Decode:
        """The function that reads a stored value; compiled once, called for every row."""

    def normalised(self, value: Any) -> Any:
        """The value in the single spelling in which it is stored and looked up."""
        return value

    def faults(self, path: str, value: Any) -> Iterable[BadUserInput]:
        """Everything that is wrong with a new value: its form, and the rules that it breaks; each with its path.

        `encode` only checks the form, so that a value from before a rule was declared can be kept.
        """
        try:
            self.encode(path, value)
        except BadUserInput as error:
            return (error,)
        return self.broken_rules(path, value)

    def broken_rules(self, path: str, value: Any) -> Iterable[BadUserInput]:
        """The declared rules that a value of the right form breaks."""
        return ()

    def declaration_faults(self) -> Iterator[str]:
        """The faults of the declared rules themselves, such as a minimum above the maximum."""
        return iter(())

    def json(self) -> Callable[[Any], Any] | None:
        """The function that turns a value into JSON, or None if the value already is JSON."""
        return self.scalar.serialize if self.scalar is not None else None


class KeyType(AttributeType):
    """A type whose values may fill a part of a key."""

    __slots__ = ()

    many_values: ClassVar[bool] = True  # False: there are few values, so many items share a partition
    shardable: ClassVar[bool] = False  # many values with one spelling each: a hash of it spreads items evenly
    padded: ClassVar[bool] = False  # numbers: the key template gives a width, such as {price:10.2}

    def encode(self, name: str, value: Any) -> Wire:
        """Most of them are stored as they appear in a key; others override this."""
        return {"S": self.key_text(name, value)}

    @property
    @abstractmethod
    def key_pattern(self) -> re.Pattern[str]:
        """Matches every text that a value can have inside a key."""
        # INVARIANT: no pattern matches '#', so that one entity cannot imitate another's key.

    @property
    def key_values(self) -> tuple[str, ...] | None:
        """Every text that a value can have inside a key, or None if they cannot be listed."""
        return None

    @abstractmethod
    def key_text(self, name: str, value: Any, width: int = 0, scale: int = 0) -> str:
        """The value as one part of a key."""

    @abstractmethod
    def key_value(self, text: str) -> Any:
        """The value of a key part, or None if the text is not valid."""

    @abstractmethod
    def key_length(self, width: int, scale: int) -> int:
        """The length in bytes of the longest text inside a key."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The default of a mutation's argument: the token's subject. A caller with own rows cannot name another one."""


@dataclass(frozen=True, slots=True)
class Field:
    """A named, typed value: an attribute, a field of a struct, or an argument of a mutation."""

    name: str
    type: AttributeType
    description: str
    required: bool = True
    # why clients should no longer use it, and what to use instead: docs/schema-policy.md
    deprecated: str | None = field(default=None, kw_only=True)
    # used if an argument is left out
    default: Subject | None = field(default=None, kw_only=True)


def expect(name: str, value: Any, kind: Any, words: str) -> Any:
    """The value, if it is an instance of `kind`."""
    if not isinstance(value, kind):
        raise BadUserInput(f"`{name}` needs {words}", name)
    return value
