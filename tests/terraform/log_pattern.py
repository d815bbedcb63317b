"""The part of CloudWatch's JSON filter patterns that our filters use, to try them on real log lines.

`{ ($.a.b = "x*") && (($.c[0] = "y") || ($.d >= 5) || ($.e NOT EXISTS)) }`
"""

import re
from fnmatch import fnmatchcase
from typing import Any

_TOKENS = re.compile(
    r'\s*(?:(?P<path>\$[.\w\[\]]+)|(?P<text>"(?:[^"\\]|\\.)*")|(?P<number>-?\d+(?:\.\d+)?)'
    r"|(?P<word>NOT EXISTS)|(?P<sign>&&|\|\||>=|<=|!=|[()=<>]))"
)
_ABSENT = object()


def matches(pattern: str, line: dict[str, Any]) -> bool:
    text = pattern.strip()
    if not (text.startswith("{") and text.endswith("}")):
        raise ValueError(f"not a JSON pattern: {pattern}")
    tokens = _tokens(text[1:-1])
    found = _any(tokens, line)
    if tokens:
        raise ValueError(f"not understood from {tokens}")
    return found


def _tokens(text: str) -> list[str]:
    found, position = [], 0
    while text[position:].strip():
        token = _TOKENS.match(text, position)
        if token is None:
            raise ValueError(f"not understood: {text[position:]}")
        found.append(token[0].strip())
        position = token.end()
    return found


def _any(tokens: list[str], line: dict[str, Any]) -> bool:
    found = _all(tokens, line)
    while tokens[:1] == ["||"]:
        tokens.pop(0)
        found = _all(tokens, line) or found
    return found


def _all(tokens: list[str], line: dict[str, Any]) -> bool:
    found = _one(tokens, line)
    while tokens[:1] == ["&&"]:
        tokens.pop(0)
        found = _one(tokens, line) and found
    return found


def _one(tokens: list[str], line: dict[str, Any]) -> bool:
    first = tokens.pop(0)
    if first == "(":
        found = _any(tokens, line)
        if tokens.pop(0) != ")":
            raise ValueError("a parenthesis is missing")
        return found
    value = _value(first, line)
    sign = tokens.pop(0)
    if sign == "NOT EXISTS":
        return value is _ABSENT
    return _compared(value, sign, tokens.pop(0))


def _compared(value: Any, sign: str, expected: str) -> bool:
    if expected.startswith('"'):
        if sign not in ("=", "!="):
            raise ValueError("texts are only compared for equality")
        return isinstance(value, str) and fnmatchcase(value, expected[1:-1]) is (sign == "=")
    if not isinstance(value, int | float):
        return False
    number = float(expected)
    return {"=": value == number, ">=": value >= number, ">": value > number, "<=": value <= number}[sign]


def _value(path: str, line: dict[str, Any]) -> Any:
    found: Any = line
    for name, index in re.findall(r"\.(\w+)|\[(\d+)\]", path):
        if name:
            found = found.get(name, _ABSENT) if isinstance(found, dict) else _ABSENT
        else:
            found = found[int(index)] if isinstance(found, list) and int(index) < len(found) else _ABSENT
    return found
