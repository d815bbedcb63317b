"""The part of EventBridge's patterns that our rules use, to try them on events.

`{"detail": {"state": ["FAILED"], "arn": [{"prefix": "arn:x"}], "$or": [{...}, {...}]}}`
"""

from collections.abc import Mapping
from typing import Any


def matches(pattern: Mapping[str, Any], event: Mapping[str, Any]) -> bool:
    return all(_member(name, expected, event) for name, expected in pattern.items())


def _member(name: str, expected: Any, event: Mapping[str, Any]) -> bool:
    if name == "$or":
        return any(matches(each, event) for each in expected)
    value = event.get(name)
    if isinstance(expected, Mapping):
        return isinstance(value, Mapping) and matches(expected, value)
    # of a list in the event, one element is enough
    found = value if isinstance(value, list) else [value]
    return any(_same(each, one) for each in expected for one in found)


def _same(expected: Any, value: Any) -> bool:
    if isinstance(expected, Mapping):
        (kind, text) = next(iter(expected.items()))
        if kind != "prefix":
            raise ValueError(f"not understood: {expected}")
        return isinstance(value, str) and value.startswith(text)
    # true is no 1 here
    return type(expected) is type(value) and expected == value
