"""The part of EventBridge's patterns that our rules use, to try them on events.

`{"detail": {"state": ["FAILED"], "arn": [{"prefix": "arn:x"}], "$or": [{...}, {...}]}}`
"""

from collections.abc import Mapping
from typing import Any


def matches(pattern: Mapping[str, Any], event: Mapping[str, Any]) -> bool:
    return all(_member(name, wanted, event) for name, wanted in pattern.items())


def _member(name: str, wanted: Any, event: Mapping[str, Any]) -> bool:
    if name == "$or":
        return any(matches(each, event) for each in wanted)
    value = event.get(name)
    if isinstance(wanted, Mapping):
        return isinstance(value, Mapping) and matches(wanted, value)
    # of a list in the event, one element is enough
    found = value if isinstance(value, list) else [value]
    return any(_same(each, one) for each in wanted for one in found)


def _same(wanted: Any, value: Any) -> bool:
    if isinstance(wanted, Mapping):
        (kind, text) = next(iter(wanted.items()))
        if kind != "prefix":
            raise ValueError(f"not understood: {wanted}")
        return isinstance(value, str) and value.startswith(text)
    # true is no 1 here
    return type(wanted) is type(value) and wanted == value
