"""The demo shop on the sandbox, which enforces the policies: operations of its subjects."""

from dataclasses import dataclass
from typing import Any

from httpx2 import AsyncClient

from gateway.sandbox.sandbox import Sandbox
from tests.fixtures import post


@dataclass(frozen=True)
class SandboxShop:
    sandbox: Sandbox
    client: AsyncClient

    async def answer_for(self, query: str, subject: str, role: str = "customer", **variables: Any) -> Any:
        """The content of the response, errors included."""
        token = self.sandbox.token("acme", role, subject)
        return (await post(self.client, query, variables, token)).json()


def codes(answer: Any) -> set[str]:
    return {error["extensions"]["code"] for error in answer.get("errors", ())}
