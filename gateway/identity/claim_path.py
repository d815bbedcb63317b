"""Finds a claim in a token: by its exact name, by a dotted path, or by a list of names, one for each level."""

from collections.abc import Mapping
from typing import Any

from gateway.identity.errors import TokenRefused

ClaimPath = str | tuple[str, ...]


def find_claim(claims: Mapping[str, Any], path: ClaimPath) -> Any:
    """The value at the path, or `None`. A list of names is followed exactly."""
    if isinstance(path, tuple):
        return _nested(claims, path)
    nested = _nested(claims, tuple(path.split(".")))
    if path in claims and "." in path and nested is not None:
        raise TokenRefused(f"claim `{path}` is ambiguous", "it exists both by its name and by its path")
    return claims.get(path) if path in claims else nested


def claim_name(path: ClaimPath) -> str:
    """The path as error messages show it."""
    return path if isinstance(path, str) else ".".join(path)


def claim_path(path: str | list[str] | tuple[str, ...]) -> ClaimPath:
    return path if isinstance(path, str) else tuple(path)


def _nested(claims: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    value: Any = claims
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
