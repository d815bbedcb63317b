"""What stands behind the front and keeps the items: the seam between the sandbox and a DynamoDB engine."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from gateway.errors import Internal

API = "DynamoDB_20120810"
STREAMS_API = "DynamoDBStreams_20120810"


@dataclass(frozen=True, slots=True)
class EngineResponse:
    status: int
    body: bytes = field(repr=False)

    @property
    def ok(self) -> bool:
        return self.status == 200


class Engine(Protocol):
    async def call(self, target: str, body: bytes) -> EngineResponse:
        """Runs what `X-Amz-Target` names; who may do so has been decided before."""
        ...

    async def close(self) -> None: ...


class EngineRefused(Internal):
    """The engine refused what the sandbox itself asked for; `name` is DynamoDB's name of the error."""

    def __init__(self, operation: str, name: str, message: str) -> None:
        super().__init__(f"{operation}: {name}: {message}")
        self.name = name


async def ask(engine: Engine, operation: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """A call of the sandbox itself, to make and fill the table."""
    answer = await engine.call(f"{API}.{operation}", json.dumps(body).encode())
    try:
        content = json.loads(answer.body)
    except ValueError as error:
        raise EngineRefused(operation, "NotDynamoDB", f"status {answer.status} and no JSON") from error
    if not answer.ok or not isinstance(content, dict):
        name = str(content.get("__type", "")) if isinstance(content, dict) else ""
        message = content.get("message") or content.get("Message") or "" if isinstance(content, dict) else ""
        raise EngineRefused(operation, name.rpartition("#")[2], str(message))
    return content
