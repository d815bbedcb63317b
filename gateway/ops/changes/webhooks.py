"""Webhooks: sends each change of a feed to a tenant's own address, signed according to Standard Webhooks.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gateway.backoff import exponential
from gateway.errors import BadUserInput

PREFIX = "whsec_"
_SECRET_BYTES = range(24, 65)
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 300.0
_GONE = 410


@dataclass(frozen=True, slots=True)
class SigningSecret:
    """INVARIANT: it is never shown: neither its text nor its key appears in a log, an error or a representation."""

    key: bytes = field(repr=False)

    @classmethod
    def parse(cls, text: str) -> "SigningSecret":
        wrong = f"a webhook secret must be `{PREFIX}` followed by 24 to 64 bytes in base64"
        try:
            key = base64.b64decode(text.strip().removeprefix(PREFIX), validate=True)
        except (binascii.Error, ValueError):
            raise BadUserInput(wrong) from None
        if not text.strip().startswith(PREFIX) or len(key) not in _SECRET_BYTES:
            raise BadUserInput(wrong)
        return cls(key)

    def signature(self, message_id: str, timestamp: int, body: bytes) -> str:
        content = b"%b.%d.%b" % (message_id.encode(), timestamp, body)
        return "v1," + base64.b64encode(hmac.digest(self.key, content, hashlib.sha256)).decode()


@dataclass(frozen=True, slots=True)
class WebhookMessage:
    """Has the id of its change: a repeated message has the same id, so that receivers can drop it."""

    id: str
    body: bytes

    def headers(self, secrets: Sequence[SigningSecret], now: float) -> dict[str, str]:
        """Signed with every secret, so that a receiver can switch to a new one."""
        return {
            "content-type": "application/json",
            "webhook-id": self.id,
            "webhook-timestamp": str(int(now)),
            "webhook-signature": " ".join(secret.signature(self.id, int(now), self.body) for secret in secrets),
        }


def message_of(tenant: str, change: Mapping[str, Any], now: float) -> WebhookMessage:
    content = {name: value for name, value in change.items() if name not in ("position", "change")}
    event = f"{str(change['type']).lower()}.{change['kind']}"
    at = datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    body = json.dumps({"type": event, "timestamp": at, "data": {"tenant": tenant, **content}}).encode()
    # INVARIANT: the same change has the same id, whichever process sends it and however often
    return WebhookMessage(f"msg_{change['change']}", body)


Post = Callable[[bytes, Mapping[str, str]], int]
"""Sends a body with headers and returns the status; raises `OSError` if there is no response."""


@dataclass(slots=True)
class Webhooks:
    """Messages of one tenant, one after another: the next is sent once the last was accepted or became a dead
    letter."""

    tenant: str
    post: Post
    secrets: Sequence[SigningSecret]
    dead_letters: Path
    tries: int = 8
    pause: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.time

    def send(self, change: Mapping[str, Any]) -> bool:
        """Whether it was accepted; otherwise it is kept as a dead letter."""
        message, problem = message_of(self.tenant, change, self.clock()), ""
        for attempt in range(self.tries):
            if attempt:
                self.pause(exponential(attempt - 1, _FIRST_PAUSE, _LONGEST_PAUSE))
            try:
                status = self.post(message.body, message.headers(self.secrets, self.clock()))
            except OSError as error:
                problem = type(error).__name__
                continue
            if 200 <= status < 300:
                return True
            problem = f"status {status}"
            if status == _GONE:
                break
        self._bury(message, problem)
        return False

    def _bury(self, message: WebhookMessage, problem: str) -> None:
        """INVARIANT: a change that was not accepted is kept on disk before the feed continues."""
        line = {"id": message.id, "problem": problem, "message": json.loads(message.body)}
        with self.dead_letters.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
