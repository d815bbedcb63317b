"""Python mistakes in any declaration, found by the annotations of its class: a class instead of an instance, a bare
string or a missing comma where a tuple is expected, a value of another type.
"""

import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Union, get_args, get_origin

from gateway.model.types import AttributeType

_PLAIN = (str, int, bool, float)
_WORDS: Mapping[Any, str] = {str: "a string", int: "a whole number", float: "a number", bool: "True or False"}


def shape_faults(declared: Any, path: str = "", *, deep: bool = True) -> Iterator[str]:
    """The faults of the fields of a declaration and, if `deep`, of the declarations in it, each with its path."""
    for field in fields(declared):
        # types have their own checks, which say what to write instead
        if field.type is not AttributeType and not isinstance(field.type, str):
            yield from _value_faults(getattr(declared, field.name), field.type, f"{path}{field.name}", deep)


def _value_faults(value: Any, expected: Any, path: str, deep: bool) -> Iterator[str]:
    if expected in _PLAIN and type(value) is expected:
        return  # most values, and right
    kinds = get_args(expected) if get_origin(expected) in (Union, types.UnionType) else (expected,)
    several = [kind for kind in kinds if get_origin(kind) is tuple]
    if several and not any(_fits(value, kind) for kind in kinds if kind not in several):
        yield from _tuple_faults(value, get_args(several[0])[0], path, deep)
    elif not _fits(value, expected):
        yield f"`{path}` {_fix(value, expected)}"
    elif deep and is_dataclass(value) and not isinstance(value, type | AttributeType):
        yield from shape_faults(value, f"{path}.")


def _tuple_faults(value: Any, member: Any, path: str, deep: bool) -> Iterator[str]:
    if isinstance(value, tuple):
        for number, member_value in enumerate(value):
            if not _fits(member_value, member):
                fix = f"{_words(member)}{_called(member_value, member)}"
                yield f"`{path}` holds {_type_name(member_value)}; it takes {fix}"
            elif deep:
                yield from _value_faults(member_value, member, f"{path}[{_label(member_value, number)}]", deep)
    elif isinstance(value, str):
        yield f"`{path}` must be a tuple; write `({value!r},)`, with a comma after the only member"
    elif _fits(value, member):
        yield f"`{path}` must be a tuple; put a comma after its only member"
    else:
        yield f"`{path}` must be a tuple, not {_type_name(value)}"


def _label(member: Any, number: int) -> object:
    """The name of a member, which is easier to find than its index."""
    name = getattr(member, "name", None)
    return name if isinstance(name, str) and name else number


def _fits(value: Any, expected: Any) -> bool:
    if expected is Any:
        return True
    origin = get_origin(expected)
    if origin in (Union, types.UnionType):
        return any(_fits(value, argument) for argument in get_args(expected))
    if origin is Callable or origin is Mapping:
        return callable(value) if origin is Callable else isinstance(value, Mapping)
    if expected in (int, float):
        return isinstance(value, int if expected is int else int | float) and not isinstance(value, bool)
    return not isinstance(expected, type) or isinstance(value, expected)


def _fix(value: Any, expected: Any) -> str:
    if called := _called(value, expected):
        return f"is {_type_name(value)}{called}"
    return f"must be {_words(expected)}, not {_type_name(value)}"


def _called(value: Any, expected: Any) -> str:
    """What to write if a class is used instead of an instance."""
    return f"; write `{value.__name__}(...)`" if isinstance(value, type) and _is_kind(value, expected) else ""


def _is_kind(value: type, expected: Any) -> bool:
    return any(isinstance(kind, type) and issubclass(value, kind) for kind in (get_args(expected) or (expected,)))


def _type_name(value: Any) -> str:
    if isinstance(value, type):
        return f"the class {value.__name__}"
    name = type(value).__name__
    return "nothing" if value is None else f"{'an' if name[0] in 'aeiou' else 'a'} `{name}`"


def _words(expected: Any) -> str:
    if get_origin(expected) in (Callable, Mapping):
        return "a function" if get_origin(expected) is Callable else "a dictionary"
    kinds = [kind for kind in get_args(expected) or (expected,) if kind is not types.NoneType]
    return " or ".join(_words(kind) if get_origin(kind) else _WORDS.get(kind, kind.__name__) for kind in kinds)
