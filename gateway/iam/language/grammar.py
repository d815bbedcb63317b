"""Parses a statement and refuses it if a key is unknown or a value has the wrong shape."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from gateway.iam.language.errors import PolicyError

Kind = Literal["identity", "session", "boundary", "trust", "endpoint"]
Effect = Literal["Allow", "Deny"]


@dataclass(frozen=True, slots=True)
class Condition:
    """One row of a condition: its values are alternatives; all rows of a statement must hold."""

    operator: str
    key: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """`label` is the Sid, or `#n` without one."""

    label: str
    effect: Effect
    actions: tuple[str, ...]
    excludes_actions: bool
    resources: tuple[str, ...]
    excludes_resources: bool
    principals: tuple[tuple[str, str], ...]
    conditions: tuple[Condition, ...]


_KEYS: Final = frozenset(
    ("Sid", "Effect", "Principal", "NotPrincipal", "Action", "NotAction", "Resource", "NotResource", "Condition")
)
_WITH_PRINCIPAL: Final = frozenset(("trust", "endpoint"))
_PRINCIPAL_TYPES: Final = frozenset(("AWS", "Service", "Federated", "CanonicalUser"))
_SID = re.compile(r"[A-Za-z0-9]+")
_ACTION = re.compile(r"\*|[A-Za-z0-9-]+:[A-Za-z0-9*?]+")
_CONDITION_KEY = re.compile(r"[A-Za-z0-9-]+:[^\s].*")


def statement(raw: object, position: int, kind: Kind) -> Statement:
    """`position` counts from one and names a statement that has no Sid."""
    if not isinstance(raw, dict):
        raise PolicyError(f"statement #{position}: not an object")
    label = _label(raw, position)
    try:
        _check_keys(raw, kind)
        return Statement(
            label=label,
            effect=_effect(raw),
            actions=_actions(raw),
            excludes_actions="NotAction" in raw,
            resources=() if kind == "trust" else _resources(raw),
            excludes_resources="NotResource" in raw,
            principals=_principals(raw["Principal"]) if kind in _WITH_PRINCIPAL else (),
            conditions=_conditions(raw),
        )
    except PolicyError as error:
        raise PolicyError(f"statement `{label}`: {error.message}") from error


def _label(raw: Mapping[str, Any], position: int) -> str:
    sid = raw.get("Sid", "")
    if not isinstance(sid, str) or (sid and not _SID.fullmatch(sid)):
        raise PolicyError(f"statement #{position}: Sid must consist of letters and digits")
    return sid or f"#{position}"


def _check_keys(raw: Mapping[str, Any], kind: Kind) -> None:
    unknown = raw.keys() - _KEYS
    if unknown:
        raise PolicyError(f"unknown key `{min(unknown)}`")
    if "NotPrincipal" in raw:
        raise PolicyError(f"NotPrincipal is not supported in a document of kind {kind}")
    if ("Principal" in raw) != (kind in _WITH_PRINCIPAL):
        raise PolicyError(f"Principal {'is missing' if kind in _WITH_PRINCIPAL else 'is not allowed'} in kind {kind}")
    if kind == "trust" and not raw.keys().isdisjoint(("Resource", "NotResource")):
        raise PolicyError("Resource is not allowed in kind trust")


def _effect(raw: Mapping[str, Any]) -> Effect:
    match raw.get("Effect"):
        case "Allow":
            return "Allow"
        case "Deny":
            return "Deny"
    raise PolicyError("Effect must be `Allow` or `Deny`")


def _one_of(raw: Mapping[str, Any], name: str) -> tuple[str, ...]:
    present = [key for key in (name, f"Not{name}") if key in raw]
    if len(present) != 1:
        raise PolicyError(f"a statement must have either {name} or Not{name}")
    return _texts(raw[present[0]], present[0])


def _texts(value: object, where: str) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not values:
        raise PolicyError(f"{where} must be a string or a list of strings, and not empty")
    for text in values:
        if not isinstance(text, str) or not text:
            raise PolicyError(f"{where} contains a value that is not a string, or an empty one")
    return tuple(values)


def _actions(raw: Mapping[str, Any]) -> tuple[str, ...]:
    actions = _one_of(raw, "Action")
    for action in actions:
        if not _ACTION.fullmatch(action):
            raise PolicyError(f"action `{action}` is neither `*` nor `service:Name`")
    return actions


def _resources(raw: Mapping[str, Any]) -> tuple[str, ...]:
    resources = _one_of(raw, "Resource")
    for resource in resources:
        _check_resource(resource)
    return resources


def _check_resource(resource: str) -> None:
    if resource == "*":
        return
    parts = resource.split(":", 5)
    if len(parts) != 6 or parts[0] != "arn" or not parts[5]:
        raise PolicyError(f"resource `{resource}` is neither `*` nor an ARN of six parts")
    if any(mark in part for part in parts[:5] for mark in "${}"):
        raise PolicyError(f"resource `{resource}` has a variable outside its last part")
    if any(mark in parts[2] for mark in "*?"):
        raise PolicyError(f"resource `{resource}` has a wildcard for its service")


def _principals(raw: object) -> tuple[tuple[str, str], ...]:
    if raw == "*":
        return (("AWS", "*"),)
    if not isinstance(raw, dict) or not raw:
        raise PolicyError("Principal must be `*` or an object of principal types")
    unknown = raw.keys() - _PRINCIPAL_TYPES
    if unknown:
        raise PolicyError(f"unknown principal type `{min(unknown)}`")
    principals = tuple((kind, text) for kind, value in raw.items() for text in _texts(value, "Principal"))
    for _, text in principals:
        if text != "*" and any(mark in text for mark in "*?$"):
            raise PolicyError(f"principal `{text}` has a wildcard or a variable")
    return principals


def _conditions(raw: Mapping[str, Any]) -> tuple[Condition, ...]:
    if "Condition" not in raw:
        return ()
    block = raw["Condition"]
    if not isinstance(block, dict) or not block:
        raise PolicyError("Condition must be an object of operators, and not empty")
    rows: list[Condition] = []
    for operator, keys in block.items():
        if not isinstance(keys, dict) or not keys:
            raise PolicyError(f"operator `{operator}` must hold an object of keys, and not empty")
        if len({key.lower() for key in keys}) != len(keys):
            raise PolicyError(f"operator `{operator}` names a key twice, with different case")
        rows.extend(_row(operator, key, value) for key, value in keys.items())
    return tuple(rows)


def _row(operator: str, key: str, value: object) -> Condition:
    if not _CONDITION_KEY.fullmatch(key):
        raise PolicyError(f"operator `{operator}`: `{key}` is not a condition key")
    values = value if isinstance(value, list) else [value]
    if not values:
        raise PolicyError(f"operator `{operator}`, key `{key}`: no value")
    return Condition(operator, key, tuple(_scalar(item, f"operator `{operator}`, key `{key}`") for item in values))


def _scalar(value: object, where: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise PolicyError(f"{where}: a value must be a string, a number or a boolean")
