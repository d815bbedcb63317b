"""The scenario of `scenario.mjs` with gql, the Python client; it runs in an environment of its own."""

import asyncio
import json
import os
import re
import urllib.request
import uuid
from pathlib import Path
from typing import Any

from gql import Client, gql  # type: ignore[import-not-found]  # only in the environment of this client
from gql.transport.exceptions import TransportQueryError  # type: ignore[import-not-found]
from gql.transport.httpx import HTTPXAsyncTransport  # type: ignore[import-not-found]

GATEWAY, ISSUER = os.environ["GATEWAY_URL"], os.environ["ISSUER_URL"]
PRODUCT = "p-1001"
TEXT = (Path(__file__).parent / "operations.graphql").read_text(encoding="utf-8")
PARTS = [
    part for part in re.split(r"^(?=query|mutation)", TEXT, flags=re.MULTILINE) if re.match("query|mutation", part)
]
OPERATIONS = {part.split()[1].partition("(")[0]: part for part in PARTS}


def token_of(tenant: str, role: str, seconds: int | None = None) -> str:
    caller = {"tenant": tenant, "role": role} | ({} if seconds is None else {"seconds": seconds})
    request = urllib.request.Request(ISSUER, json.dumps(caller).encode(), method="POST")
    with urllib.request.urlopen(request, timeout=10) as answer:
        made: str = json.load(answer)["token"]
    return made


class SchemaClient:
    """Operations are checked against the schema, which is fetched once, before they are sent."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema

    async def execute(self, operation: str, variables: dict[str, Any], token: str) -> tuple[Any, list[str]]:
        """Data, and the codes of the errors."""
        try:
            async with Client(transport=_transport(token), schema=self._schema) as session:
                return await session.execute(gql(OPERATIONS[operation]), variable_values=variables), []
        except TransportQueryError as error:
            return None, [each["extensions"]["code"] for each in error.errors or ()]

    async def ask(self, operation: str, variables: dict[str, Any], token: str) -> Any:
        data, codes = await self.execute(operation, variables, token)
        assert codes == [], (operation, codes)
        return data


def _transport(token: str) -> Any:
    return HTTPXAsyncTransport(url=GATEWAY, headers={"Authorization": f"Bearer {token}"})


async def schema_client(token: str) -> SchemaClient:
    async with Client(transport=_transport(token), fetch_schema_from_transport=True) as session:
        return SchemaClient(session.client.schema)


async def ids(client: SchemaClient, token: str, first: int) -> list[str]:
    found: list[str] = []
    after = None
    while True:
        page = (await client.ask("Products", {"first": first, "after": after}, token))["productsByCategory"]
        found += [edge["node"]["productId"] for edge in page["edges"]]
        if not page["pageInfo"]["hasNextPage"]:
            return found
        after = page["pageInfo"]["endCursor"]


async def main() -> None:
    viewer, editor, stranger = token_of("acme", "viewer"), token_of("acme", "editor"), token_of("globex", "viewer")
    client = await schema_client(viewer)
    product = (await client.ask("Product", {"productId": PRODUCT}, viewer))["product"]
    assert product["productId"] == PRODUCT
    node = (await client.ask("Anything", {"id": product["id"]}, viewer))["node"]
    assert node == {"__typename": "Product", "id": product["id"], "title": product["title"]}
    assert (await client.ask("Anything", {"id": product["id"]}, stranger))["node"] is None

    whole = await ids(client, viewer, 100)
    assert len(whole) > 3
    assert await ids(client, viewer, 3) == whole

    renaming = {"productId": PRODUCT, "title": f"Renamed by gql {uuid.uuid4()}", "version": product["version"]}
    key = str(uuid.uuid4())
    renamed = (await client.ask("Rename", {"input": renaming, "key": key}, editor))["updateProduct"]
    assert (renamed["errors"], renamed["product"]["title"]) == ([], renaming["title"])
    repeated = (await client.ask("Rename", {"input": renaming, "key": key}, editor))["updateProduct"]
    assert repeated["product"]["version"] == renamed["product"]["version"]
    stale = (await client.ask("Rename", {"input": renaming | {"title": "late"}, "key": None}, editor))["updateProduct"]
    assert [each["code"] for each in stale["errors"]] == ["CONFLICT"]

    refused = {"input": {"productId": PRODUCT, "title": "no"}, "key": None}
    assert (await client.execute("Rename", refused, viewer))[1] == ["FORBIDDEN"]
    assert (await client.execute("Products", {"first": -1, "after": None}, viewer))[1] == ["BAD_USER_INPUT"]

    expired = token_of("acme", "viewer", -120)
    assert (await client.execute("Product", {"productId": PRODUCT}, expired))[1] == ["UNAUTHENTICATED"]
    assert (await client.ask("Product", {"productId": PRODUCT}, viewer))["product"]["title"] == renaming["title"]
    print("gql: query, page, mutate, error and expired token as expected")


if __name__ == "__main__":
    asyncio.run(main())
