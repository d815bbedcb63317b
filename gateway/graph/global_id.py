"""Global ids: opaque, stable, and bound to their scope, so that a foreign or altered id identifies nothing.

The scope is the tenant; in a session of own rows it is the tenant and the subject. If the key of an entity contains
personal data, such as an e-mail address, its ids are encrypted with the secret of the cursors: a role that may not read
the address neither finds it in an id nor can compute the id of an address.
"""

import base64
import binascii
import hashlib
from collections.abc import Callable
from typing import Any

from gateway.errors import BadUserInput
from gateway.model.entity import Entity
from gateway.model.keys import ItemKey, item_key
from gateway.model.tenant import TenantId
from gateway.store.cursor import Cursors

_SEPARATOR = "#"  # no key part contains it
_CHECK_BYTES = 6
_MAX_LENGTH = 2_048
_PURPOSE = "global id"  # no listing has such a name, so no cursor is a valid id


def global_id(scope: str, entity: str, parts: tuple[str, ...]) -> str:
    content = _SEPARATOR.join((entity, *parts)).encode()
    return _text(_check(scope, content) + content)


def read_global_id(scope: str, text: str) -> tuple[str, tuple[str, ...]] | None:
    """The entity and the key parts, or None for an id that was never issued to this tenant or its subject."""
    try:
        if len(text) > _MAX_LENGTH:
            return None
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        check, content = raw[:_CHECK_BYTES], raw[_CHECK_BYTES:]
        # only the canonical spelling: base64 has unused bits in its last character, and clients cache items by id
        if check != _check(scope, content) or _text(raw) != text:
            return None
        entity, *parts = content.decode().split(_SEPARATOR)
    except (ValueError, binascii.Error):
        return None
    return entity, tuple(parts)


def item_id(cursors: Cursors, scope: str, entity: Entity, parts: tuple[str, ...]) -> str:
    """The id of the item with these key parts."""
    if entity.personal_key:
        return cursors.seal(scope, _PURPOSE, {}, _SEPARATOR.join((entity.name, *parts)))
    return global_id(scope, entity.name, parts)


def identified(
    cursors: Cursors, tenant: TenantId, scope: str, text: str, entity_of: Callable[[str], Entity | None]
) -> tuple[str, ItemKey] | None:
    """The entity and the key of the item with this id; None for unknown, foreign and forged ids alike."""
    named, sealed = read_global_id(scope, text), False
    if named is None:
        named, sealed = _opened(cursors, scope, text), True
    entity = None if named is None else entity_of(named[0])
    # INVARIANT: an id that anyone can compute does not lead to an item whose key contains personal data.
    if named is None or entity is None or entity.personal_key is not sealed:
        return None
    key = node_key(tenant, entity, named[1])
    return None if key is None else (named[0], key)


def _opened(cursors: Cursors, scope: str, text: str) -> tuple[str, tuple[str, ...]] | None:
    try:
        entity, *parts = cursors.open(scope, _PURPOSE, {}, text, longest=_MAX_LENGTH).split(_SEPARATOR)
    except BadUserInput:
        return None
    return entity, tuple(parts)


def node_key(tenant: TenantId, entity: Entity, parts: tuple[str, ...]) -> ItemKey | None:
    """The key from these parts of a global id, or None: anyone can compute an id whose parts form no key."""
    if len(parts) != len(entity.key_names):
        return None
    # the model checks that only attributes that can fill a key are named in one
    kinds: list[Any] = [entity.attribute[name].type for name in entity.key_names]
    values = {name: kind.key_value(part) for name, kind, part in zip(entity.key_names, kinds, parts, strict=True)}
    try:
        return item_key(tenant, entity, values)
    except BadUserInput:
        return None


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _check(scope: str, content: bytes) -> bytes:
    # not a secret: an id must stay valid for years, and knowing how to compute one gives access to nothing
    return hashlib.sha256(scope.encode() + b"\x00" + content).digest()[:_CHECK_BYTES]
