from typing import Any

import pytest

from gateway.sandbox.aws.embedded import Replays
from gateway.sandbox.aws.engine import EngineResponse
from gateway.sandbox.aws.responses import AwsFault

BODY: dict[str, Any] = {"ClientRequestToken": "token", "TransactItems": []}


class Writes:
    def __init__(self, status: int = 200) -> None:
        self.status = status
        self.count = 0

    def __call__(self) -> EngineResponse:
        self.count += 1
        return EngineResponse(self.status, str(self.count).encode())


def test_a_token_counts_for_ten_minutes() -> None:
    now = [0.0]
    replays, write = Replays(lambda: now[0]), Writes()
    answers = []
    for now[0] in (0.0, 599.0, 601.0):
        answers.append(replays.run(BODY, write).body)
    assert answers == [b"1", b"1", b"2"]


def test_a_transaction_that_failed_may_be_tried_again() -> None:
    replays, write = Replays(lambda: 0.0), Writes(400)
    replays.run(BODY, write)
    write.status = 200
    assert replays.run(BODY, write).body == b"2"


def test_a_transaction_without_a_token_is_written_each_time() -> None:
    replays, write = Replays(lambda: 0.0), Writes()
    for _ in range(2):
        replays.run({"TransactItems": []}, write)
    assert write.count == 2


def test_a_token_with_other_contents_is_refused() -> None:
    replays, write = Replays(lambda: 0.0), Writes()
    replays.run(BODY, write)
    with pytest.raises(AwsFault):
        replays.run({**BODY, "TransactItems": [{}]}, write)
    assert write.count == 1
