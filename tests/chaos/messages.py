"""HTTP messages with a length, as bytes: enough for what lies between a gateway and DynamoDB."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any
from zlib import crc32


@dataclass(frozen=True, slots=True)
class Message:
    """`head` ends with the empty line."""

    head: bytes
    body: bytes

    @property
    def operation(self) -> str:
        return header(self.head, b"x-amz-target").decode().rpartition(".")[2]


def header(head: bytes, name: bytes) -> bytes:
    for line in head.split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key.strip().lower() == name:
            return value.strip()
    return b""


async def read(reader: asyncio.StreamReader) -> Message | None:
    """The next message, or None where the other side has ended."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        return Message(head, await reader.readexactly(int(header(head, b"content-length") or b"0")))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None


def answer(status: int, content: dict[str, Any]) -> Message:
    body = json.dumps(content).encode()
    return Message(_head(status, body, crc32(body)), body)


def fault(status: int, name: str, message: str, **more: Any) -> Message:
    return answer(status, {"__type": f"com.amazonaws.dynamodb.v20120810#{name}", "message": message, **more})


def damaged(given: Message) -> Message:
    """Its last bytes are lost; the checksum is that of what was sent."""
    body = given.body[:-1] + b" "
    return Message(_head(200, body, crc32(given.body)), body)


def _head(status: int, body: bytes, checksum: int) -> bytes:
    return (
        f"HTTP/1.1 {status} Answer\r\nContent-Type: application/x-amz-json-1.0\r\n"
        f"Content-Length: {len(body)}\r\nx-amz-crc32: {checksum}\r\n\r\n"
    ).encode()
