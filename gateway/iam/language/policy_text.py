"""Reads and writes the text of a policy: strict JSON with the characters and lengths that AWS accepts."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from gateway.iam.language.errors import PolicyError

SESSION_LIMIT = 2_048
# far above every AWS quota; it only bounds the work of the parser
_TEXT_LIMIT = 131_072
_FOREIGN = re.compile("[^\t\n\r\u0020-\u00ff]")


def read_json(source: str | Mapping[str, Any]) -> dict[str, Any]:
    """Returns the document as JSON values; a mapping is encoded first, so that both get the same checks."""
    text = source if isinstance(source, str) else _written(dict(source))
    if len(text) > _TEXT_LIMIT:
        raise PolicyError(f"a policy has at most {_TEXT_LIMIT} characters, this has {len(text)}")
    check_characters(text)
    try:
        document = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise PolicyError(f"not JSON: {error}") from error
    if not isinstance(document, dict):
        raise PolicyError("a policy must be a JSON object")
    _check_texts(document)
    return document


def _check_texts(document: dict[str, Any]) -> None:
    """Checks the decoded strings, because an escape in the JSON text may hide a character that AWS refuses."""
    pending: list[Any] = [document]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            check_characters(value)
        elif isinstance(value, dict):
            pending += [*value.keys(), *value.values()]
        elif isinstance(value, list):
            pending += value


def canonical(value: object) -> str:
    """Returns JSON without white space and with sorted keys, so that equal documents have equal fingerprints."""
    return _written(value, in_order=True)


def _written(value: object, *, in_order: bool = False) -> str:
    try:
        return json.dumps(value, sort_keys=in_order, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise PolicyError(f"not JSON: {error}") from error


def check_characters(text: str) -> None:
    """AWS accepts tab, line feed, carriage return and U+0020 to U+00FF in a policy."""
    match = _FOREIGN.search(text)
    if match:
        raise PolicyError(f"character U+{ord(match.group()):04X} is not allowed in a policy")


def session_length(texts: Iterable[str]) -> int:
    """Returns the number of characters of all session policies together, as sent."""
    # AWS does not document whether white space counts, so every character counts here
    return sum(len(text) for text in texts)


def check_session_length(*texts: str) -> None:
    length = session_length(texts)
    if length > SESSION_LIMIT:
        raise PolicyError(f"session policies have at most {SESSION_LIMIT} characters together, these have {length}")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise PolicyError(f"key `{twice}` occurs twice in one object")
    return values


def _no_constant(text: str) -> float:
    raise PolicyError(f"`{text}` is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise PolicyError(f"number `{text}` is out of range")
    return number
