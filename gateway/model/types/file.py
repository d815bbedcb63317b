"""Files: values that are too large for an item and are stored in S3."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, final

from gateway.errors import BadUserInput
from gateway.model.types.base import Field
from gateway.model.types.containers import Struct
from gateway.model.types.numbers import MAX_INT, Integer
from gateway.model.types.text import Id, Text
from gateway.model.types.timestamp import Timestamp

_CONTENT_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,62}/[a-z0-9][a-z0-9!#$&^_.+-]{0,62}")
SHA256 = Text(44, min=44, pattern=r"[A-Za-z0-9+/]{43}=", example="47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
DOWNLOAD = Struct(
    "Download",
    (
        Field("url", Text(16_384), "The address of the file, for a GET request without a token."),
        Field("expiresAt", Timestamp(), "Until when the address works."),
        Field("size", Integer(), "The size in bytes."),
        Field("contentType", Text(127), "The type of the content."),
    ),
    "A signed address of a file. Anyone who has it can read the file until it expires.",
)


@final
@dataclass(frozen=True, slots=True)
class File(Struct):
    """A file in S3. The item holds its metadata; the gateway signs its upload and its downloads.

    `content_types` are the types that callers may upload, such as `application/pdf`; parameters are not compared.
    """

    name: str = "File"
    fields: tuple[Field, ...] = (
        Field("uploadId", Id(), "The upload that it came with."),
        Field("size", Integer(min=1), "The size in bytes."),
        Field("contentType", Text(127), "The type of its content, such as application/pdf."),
        Field("sha256", SHA256, "The SHA-256 of its content, in Base64."),
    )
    description: str = "The metadata of a file; its download field returns an address."
    # two attributes with different limits have the same GraphQL type
    max_bytes: int = field(default=10_000_000, kw_only=True, compare=False)
    content_types: tuple[str, ...] = field(default=(), kw_only=True, compare=False)

    @property
    def documentation(self) -> str:
        return f"file in S3, up to {self.max_bytes:,} bytes: {', '.join(self.content_types)}"

    @property
    def sample(self) -> dict[str, Any]:
        kind = next(iter(self.content_types), "text/plain")
        return {"uploadId": "0" * 32, "size": 1, "contentType": kind, "sha256": SHA256.example}

    def faults(self, path: str, value: Any) -> Iterator[BadUserInput]:
        faults = [*Struct.faults(self, path, value)]
        yield from faults or self.broken_rules(path, value)

    def broken_rules(self, path: str, value: Any) -> Iterator[BadUserInput]:
        yield from self.upload_faults(value["size"], value["contentType"], f"{path}.")

    def upload_faults(self, size: int, content_type: str, where: str = "") -> Iterator[BadUserInput]:
        """The faults of an upload of this size and type."""
        if size > self.max_bytes:
            yield BadUserInput(
                f"`{where}size` is {size:,} bytes, at most {self.max_bytes:,} are allowed", f"{where}size"
            )
        if content_type not in self.content_types:
            allowed = ", ".join(self.content_types)
            message = f"`{where}contentType` is `{content_type}`, and must be one of {allowed}"
            yield BadUserInput(message, f"{where}contentType")

    def declaration_faults(self) -> Iterator[str]:
        if not 1 <= self.max_bytes <= MAX_INT:
            yield f"`max_bytes` is {self.max_bytes:,}; it must be between 1 and {MAX_INT:,}"
        if not self.content_types:
            yield "`content_types` is empty; name the types that may be uploaded, such as application/pdf"
        for content_type in self.content_types:
            if not _CONTENT_TYPE.fullmatch(content_type):
                yield (
                    f"`{content_type}` is not a content type such as application/pdf, in lower case and without"
                    " parameters"
                )
