"""Bytes."""

import base64
import binascii
from dataclasses import dataclass
from typing import Any, final

from gateway.errors import BadUserInput
from gateway.model.types.base import AttributeType, Decode, ScalarSpec, Wire, expect
from gateway.model.types.compression import BYTES_MAGIC, deflated, inflated


def _parse(text: Any) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (TypeError, ValueError, binascii.Error) as error:
        raise BadUserInput("bytes are written in base64") from error


def _serialize(value: bytes) -> str:
    return base64.b64encode(value).decode()


@final
@dataclass(frozen=True, slots=True)
class Blob(AttributeType):
    """Bytes, such as a small image."""

    max_length: int = 300_000

    tag = "B"
    scalar = ScalarSpec(
        "Base64",
        bytes,
        "Bytes, written in base64.",
        "https://datatracker.ietf.org/doc/html/rfc4648#section-4",
        _serialize,
        _parse,
    )

    @property
    def documentation(self) -> str:
        return f"up to {self.max_length:,} bytes"

    @property
    def sample(self) -> bytes:
        return b"sample-1"[: self.max_length]

    def encode(self, name: str, value: Any) -> Wire:
        content: bytes = expect(name, value, bytes, "bytes")
        if len(content) > self.max_length:
            raise BadUserInput(f"`{name}` has {len(content)} bytes, at most {self.max_length} are allowed", name)
        # content that looks like compressed bytes is always compressed, or it could not be read back
        if content.startswith(BYTES_MAGIC):
            return deflated(name, BYTES_MAGIC, content)
        return {"B": _serialize(content)}

    def decoder(self) -> Decode:
        return _decode


def _decode(wire: Wire) -> bytes:
    raw = base64.b64decode(wire["B"])
    return inflated(raw, BYTES_MAGIC) if raw.startswith(BYTES_MAGIC) else raw
