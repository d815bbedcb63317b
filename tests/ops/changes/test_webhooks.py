"""Webhooks are signed as the standard says, tried again, and never lost silently."""

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gateway.errors import BadUserInput
from gateway.ops.changes.webhooks import SigningSecret, Webhooks, message_of

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
CHANGE = {"position": "p", "change": "c1", "kind": "changed", "type": "Order", "id": "x", "item": {"status": "SHIPPED"}}


class Receiver:
    def __init__(self, *answers: int | OSError) -> None:
        self.answers = list(answers)
        self.taken: list[tuple[bytes, Mapping[str, str]]] = []

    def __call__(self, body: bytes, headers: Mapping[str, str]) -> int:
        self.taken.append((body, dict(headers)))
        answer = self.answers.pop(0) if self.answers else 204
        if isinstance(answer, OSError):
            raise answer
        return answer


def _webhooks(receiver: Receiver, folder: Path, **changes: Any) -> tuple[Webhooks, list[float]]:
    pauses: list[float] = []
    secrets = [SigningSecret.parse(SECRET)]
    given = {"pause": pauses.append, "clock": lambda: 1_700_000_000.9, **changes}
    return Webhooks("acme", receiver, secrets, folder / "dead.jsonl", **given), pauses


def test_the_signature_is_that_of_the_specification() -> None:
    """The example of the reference libraries."""
    signed = SigningSecret.parse(SECRET).signature("msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_message_holds_the_change_and_not_the_position() -> None:
    message = message_of("acme", CHANGE, 1_700_000_000)
    assert message.id == "msg_c1"
    assert json.loads(message.body) == {
        "type": "order.changed",
        "timestamp": "2023-11-14T22:13:20Z",
        "data": {"tenant": "acme", "kind": "changed", "type": "Order", "id": "x", "item": {"status": "SHIPPED"}},
    }


def test_every_secret_signs_while_it_is_changed() -> None:
    other = SigningSecret.parse("whsec_" + base64.b64encode(b"x" * 24).decode())
    headers = message_of("acme", CHANGE, 0).headers([SigningSecret.parse(SECRET), other], 1_700_000_000.9)
    assert headers["webhook-timestamp"] == "1700000000"
    assert [each.partition(",")[0] for each in headers["webhook-signature"].split(" ")] == ["v1", "v1"]


@pytest.mark.parametrize("text", ["", "secret", "whsec_", "whsec_!!", "whsec_" + base64.b64encode(b"x" * 23).decode()])
def test_a_secret_has_its_form_and_is_not_shown(text: str) -> None:
    with pytest.raises(BadUserInput) as caught:
        SigningSecret.parse(text)
    assert caught.value.message == "a webhook secret must be `whsec_` followed by 24 to 64 bytes in base64"


def test_a_secret_is_not_in_its_representation() -> None:
    secret = SigningSecret.parse(SECRET)
    assert SECRET[6:] not in repr(secret)
    assert str(secret.key) not in repr(secret)


def test_a_failed_message_is_sent_again_with_the_same_id(tmp_path: Path) -> None:
    receiver = Receiver(500, OSError("refused"), 302, 200)
    webhooks, pauses = _webhooks(receiver, tmp_path)
    assert webhooks.send(CHANGE)
    assert pauses == [1.0, 2.0, 4.0]
    assert {(body, headers["webhook-id"]) for body, headers in receiver.taken} == {(receiver.taken[0][0], "msg_c1")}
    assert not webhooks.dead_letters.exists()


@pytest.mark.parametrize(("answers", "tries"), [((500, 500, 500), 3), ((410,), 1)])
def test_what_nobody_takes_is_a_dead_letter(answers: tuple[int, ...], tries: int, tmp_path: Path) -> None:
    receiver = Receiver(*answers)
    webhooks, _ = _webhooks(receiver, tmp_path, tries=3)
    assert not webhooks.send(CHANGE)
    assert len(receiver.taken) == tries
    letter = json.loads(webhooks.dead_letters.read_text())
    assert (letter["id"], letter["problem"]) == ("msg_c1", f"status {answers[-1]}")
    assert letter["message"]["data"]["id"] == "x"
    assert SECRET not in webhooks.dead_letters.read_text()
    assert webhooks.send(CHANGE), "the next one is sent all the same"
