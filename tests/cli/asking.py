"""Asks a gateway that listens on a port."""

import json
import urllib.request
from typing import Any


def ask(url: str, token: str, query: str, variables: dict[str, Any]) -> dict[str, Any]:
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    body = json.dumps({"query": query, "variables": variables}).encode()
    with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=30) as answer:
        content: dict[str, Any] = json.loads(answer.read())
    assert "errors" not in content, content
    data: dict[str, Any] = content["data"]
    return data
