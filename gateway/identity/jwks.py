"""The key set an issuer publishes, read so that one bad key spoils only itself."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from gateway.identity.keys import VerificationKey, read_key
from gateway.identity.strict import json_object

MAX_BYTES = 256 * 1024
_MAX_KEYS = 100


@dataclass(frozen=True, slots=True)
class KeySet:
    keys: Mapping[str, VerificationKey] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)
    """Key id to the reason why that key verifies nothing."""


def read_key_set(raw: bytes, allowed: Collection[str]) -> KeySet:
    """`ValueError` when it is no key set at all; unusable keys are skipped with their reason."""
    if len(raw) > MAX_BYTES:
        raise ValueError("key set is too large")
    listed = json_object(raw).get("keys")
    if not isinstance(listed, list) or len(listed) > _MAX_KEYS:
        raise ValueError("`keys` is not a list of at most 100 keys")
    named = [member for member in listed if isinstance(member, dict) and isinstance(member.get("kid"), str)]
    uses = Counter(member["kid"] for member in named)
    keys: dict[str, VerificationKey] = {}
    # INVARIANT: a key id names exactly one key; where two share it, neither verifies anything.
    skipped = {key_id: "two keys share this `kid`" for key_id, count in uses.items() if count > 1}
    for member in named:
        if member["kid"] not in skipped:
            _add(member, allowed, keys, skipped)
    return KeySet(keys, skipped)


def _add(
    member: dict[str, Any], allowed: Collection[str], keys: dict[str, VerificationKey], skipped: dict[str, str]
) -> None:
    try:
        keys[member["kid"]] = read_key(member, allowed)
    except ValueError as error:
        skipped[member["kid"]] = str(error)
