"""Global ids: opaque, stable, and bound to their tenant, so that a foreign or changed one names nothing."""

import base64
import binascii
import hashlib

from gateway.model.tenant import TenantId

_SEPARATOR = "#"  # no key part holds it
_CHECK_BYTES = 6
_MAX_LENGTH = 2_048


def global_id(tenant: TenantId, entity: str, parts: tuple[str, ...]) -> str:
    content = _SEPARATOR.join((entity, *parts)).encode()
    return _text(_check(tenant, content) + content)


def read_global_id(tenant: TenantId, text: str) -> tuple[str, tuple[str, ...]] | None:
    """Entity and key parts, or None for whatever this tenant was never given."""
    try:
        if len(text) > _MAX_LENGTH:
            return None
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        check, content = raw[:_CHECK_BYTES], raw[_CHECK_BYTES:]
        # one spelling only: base64 has bits to spare in its last letter, and clients keep items by their ids
        if check != _check(tenant, content) or _text(raw) != text:
            return None
        entity, *parts = content.decode().split(_SEPARATOR)
    except (ValueError, binascii.Error):
        return None
    return entity, tuple(parts)


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _check(tenant: TenantId, content: bytes) -> bytes:
    # no secret: the id must stay valid for years, and knowing how to make one gives no access to anything
    return hashlib.sha256(tenant.encode() + b"\x00" + content).digest()[:_CHECK_BYTES]
