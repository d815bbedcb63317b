"""GraphQL requests to a gateway that listens on a port, by the standard library alone."""

import json
import urllib.request
from typing import Any


def post_graphql(url: str, token: str, query: str, *, seconds: float = 30, **more: Any) -> dict[str, Any]:
    """The content of the response, errors included; `more` are further members of the body."""
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    body = json.dumps({"query": query, **more}).encode()
    with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=seconds) as response:
        content: dict[str, Any] = json.load(response)
    return content


def ask(url: str, token: str, query: str, variables: dict[str, Any]) -> dict[str, Any]:
    """The data of an operation that must succeed."""
    content = post_graphql(url, token, query, variables=variables)
    assert "errors" not in content, content
    data: dict[str, Any] = content["data"]
    return data
