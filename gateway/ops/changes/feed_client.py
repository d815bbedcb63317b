"""A client of the change feed: reads it line by line, and resumes when the connection is lost."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.parse import urlencode, urlsplit

from gateway.backoff import full_jitter
from gateway.errors import BadUserInput, GatewayError, Unavailable

_SILENT_SECONDS = 60.0  # the gateway sends a line every 15
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
_MAX_LINE = 4_000_000  # a DynamoDB item has at most 400 KB
# another attempt, perhaps with a new token, may succeed
_PASSING = frozenset({"UNAVAILABLE", "THROTTLED", "TIMEOUT", "UNAUTHENTICATED", "INTERNAL"})


class FeedRefused(GatewayError):
    """The gateway does not give these changes to this caller, or no longer has them."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.refusal = code


@dataclass(slots=True)
class FeedClient:
    """`token` is called for each connection, since tokens expire; `position` is where to resume.

    `moved` is called with each new position, also while nothing changes, so that a stored position does not expire.
    """

    url: str
    tenant: str
    token: Callable[[], str]
    position: str | None = None
    moved: Callable[[str], None] = lambda position: None
    tries: int = 8
    pause: Callable[[float], None] = field(default=time.sleep)

    def changes(self) -> Iterator[dict[str, Any]]:
        """The changes after `position`, forever; raises `FeedRefused`, or `Unavailable` after too many attempts."""
        failed = 0
        while True:
            try:
                for line in self._lines():
                    failed = 0
                    if "kind" in line:
                        yield line
                    # a consumer that fails on a change gets it again
                    self.position = line["position"]
                    self.moved(line["position"])
            except (OSError, HTTPException, ValueError, Unavailable) as error:
                failed += 1
                if failed >= self.tries:
                    raise Unavailable(f"the change feed of {self.url} cannot be read: {error}") from error
                self.pause(full_jitter(failed, _FIRST_PAUSE, _LONGEST_PAUSE))

    def _lines(self) -> Iterator[dict[str, Any]]:
        connection = _connection(self.url)
        try:
            parameters = {"tenant": self.tenant} | ({} if self.position is None else {"after": self.position})
            headers = {"authorization": f"Bearer {self.token()}", "accept": "application/jsonl"}
            connection.request("GET", f"{urlsplit(self.url).path}?{urlencode(parameters)}", headers=headers)
            answer = connection.getresponse()
            while line := answer.readline(_MAX_LINE):
                content = json.loads(line)
                if "errors" in content:
                    raise _refusal(content["errors"][0])
                if answer.status != 200:
                    raise Unavailable(f"the gateway answered {answer.status}")
                yield content
            raise _ended(answer)
        finally:
            connection.close()


def _connection(url: str) -> HTTPConnection:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadUserInput(f"`{url}` is not the address of a change feed, such as https://api.example.org/changes")
    make = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    return make(parts.hostname, parts.port, timeout=_SILENT_SECONDS)


def _refusal(error: dict[str, Any]) -> GatewayError:
    code, message = error.get("extensions", {}).get("code", "INTERNAL"), str(error.get("message", ""))
    return Unavailable(f"{code}: {message}") if code in _PASSING else FeedRefused(code, message)


def _ended(answer: HTTPResponse) -> Unavailable:
    return Unavailable("the connection ended" if answer.status == 200 else f"the gateway answered {answer.status}")
