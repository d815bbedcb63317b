"""Sends rows to the bulk mutation of a running gateway, and repeats requests whose result is unknown."""

import http.client
import re
import shlex
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from threading import Lock, local
from typing import Any
from urllib.parse import urlsplit

import orjson

from gateway.backoff import full_jitter
from gateway.errors import BadUserInput, ConfigurationError, Unavailable
from gateway.model.mutation import Mutation
from gateway.ops.importing.rows import Row, RowError

_SECONDS = 60  # for one request
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 20.0
_PASSING = frozenset({"THROTTLED", "UNAVAILABLE", "TIMEOUT", "CONFLICT", "INTERNAL"})
_UNFINISHED = "UNFINISHED"
_PATH = re.compile(r"items\.\d+\.?")


class Refused(BadUserInput):
    """The gateway refuses the whole import, for example because the role may not write."""


@dataclass(slots=True)
class BearerToken:
    """A bearer token, or a command that prints one and runs again when the gateway does not accept the token."""

    text: str
    command: str | None = None
    _lock: Lock = field(default_factory=Lock, repr=False)

    def renewed(self, refused: str) -> str:
        with self._lock:
            if self.text == refused or not self.text:
                if self.command is None:
                    raise Refused("the gateway does not accept the token; get a new one, and run the command again")
                self.text = _output(self.command)
            return self.text


def _output(command: str) -> str:
    """The output of the operator's own command, from the command line."""
    try:
        done = subprocess.run(shlex.split(command), capture_output=True, text=True, timeout=_SECONDS, check=True)  # noqa: S603
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise ConfigurationError([f"the token command fails: {error}"]) from error
    return done.stdout.strip()


@dataclass(slots=True)
class Sender:
    """`patience` is how many seconds one request is repeated before the import stops."""

    url: str
    mutation: Mutation
    token: BearerToken
    patience: float = 300.0
    sleep: Callable[[float], None] = time.sleep
    _kept: local = field(default_factory=local, repr=False)  # a connection for each thread
    _opened: list[http.client.HTTPConnection] = field(default_factory=list, repr=False)

    def close(self) -> None:
        """Closes the connections of all threads once they have ended."""
        for connection in self._opened:
            connection.close()

    def send(self, key: str, rows: Sequence[Row]) -> list[tuple[RowError, ...]]:
        """The errors of each row; none for a row that was written. Repeating it with the same key writes nothing
        twice."""
        give_up = time.monotonic() + self.patience
        attempt = 0
        while True:
            errors = self._attempt(key, rows)
            if errors is not None:
                return errors
            if time.monotonic() > give_up:
                raise Unavailable(f"the gateway at {self.url} could not write the rows in {self.patience:g} seconds")
            self.sleep(full_jitter(attempt, _FIRST_PAUSE, _LONGEST_PAUSE))
            attempt += 1

    def _attempt(self, key: str, rows: Sequence[Row]) -> list[tuple[RowError, ...]] | None:
        """None if it must be repeated."""
        token = self.token.text or self.token.renewed("")
        body = {"query": self._query(), "variables": {"items": [row.values for row in rows], "key": key}}
        try:
            status, content = self._post(orjson.dumps(body), token)
        except (OSError, http.client.HTTPException, ValueError):
            # the next attempt connects again
            self._connection().close()
            return None
        if status == HTTPStatus.UNAUTHORIZED:
            self.token.renewed(token)
            return None
        if content.get("errors"):
            self._check_passing(content["errors"])
            return None
        return self._results(content["data"][self.mutation.name], len(rows))

    def _check_passing(self, errors: list[dict[str, Any]]) -> None:
        codes = {error.get("extensions", {}).get("code") for error in errors}
        if not codes <= _PASSING:
            raise Refused("; ".join(str(error.get("message")) for error in errors))

    def _results(self, payload: dict[str, Any], count: int) -> list[tuple[RowError, ...]] | None:
        results = payload["results"]
        if len(results) != count:
            raise Refused("; ".join(error["message"] for error in payload["errors"]))
        errors = [tuple(_error(error) for error in result["errors"]) for result in results]
        return None if any(error.code == _UNFINISHED for row in errors for error in row) else errors

    def _query(self) -> str:
        name = self.mutation.name
        members = f"{name[len('bulk') :]}Input"
        shown = "results { written errors { code field message } } errors { message }"
        return f"""mutation Import($items: [{members}!]!, $key: String!) {{
          {name}(input: {{items: $items}}, idempotencyKey: $key) {{ {shown} }} }}"""

    def _post(self, body: bytes, token: str) -> tuple[int, dict[str, Any]]:
        connection = self._connection()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        connection.request("POST", urlsplit(self.url).path or "/graphql", body, headers)
        response = connection.getresponse()
        content: dict[str, Any] = orjson.loads(response.read())
        return response.status, content

    def _connection(self) -> http.client.HTTPConnection:
        kept: http.client.HTTPConnection | None = getattr(self._kept, "connection", None)
        if kept is None:
            address = urlsplit(self.url)
            if address.scheme not in ("http", "https") or not address.hostname:
                raise ConfigurationError([f"`{self.url}` is not an address such as https://api.example.com/graphql"])
            kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
            kept = self._kept.connection = kind(address.hostname, address.port, timeout=_SECONDS)
            self._opened.append(kept)
        return kept


def _error(error: dict[str, Any]) -> RowError:
    path = error["field"]
    return RowError(error["code"], None if path is None else _PATH.sub("", path, count=1) or None, error["message"])
