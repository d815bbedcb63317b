from collections.abc import Mapping
from typing import Any

import pytest

from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.dynamodb import DynamoDB
from gateway.aws.wire.endpoint import AwsTarget
from gateway.demo import MODEL
from gateway.errors import Unavailable
from gateway.ops.audit.gather import batches
from gateway.ops.audit.gather.batches import Unwilling, asks_again, fails_loudly
from gateway.store.table import Table


def test_the_store_asks_again_and_fails_loudly() -> None:
    assert asks_again(MODEL)
    assert fails_loudly(MODEL)


def test_a_store_that_drops_what_was_left_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    class Careless(Table):
        def __init__(self, client: DynamoDB, *_: object) -> None:
            self.client = client

        async def get(self, access: Any, plan: Any) -> list[Any]:
            await self.client.call(
                "BatchGetItem",
                {"RequestItems": {"audit": {"Keys": list(plan.keys)}}},
                credentials=access.session.credentials,
                target=access.session.tenancy.target,
            )
            return []

    monkeypatch.setattr(batches, "Table", Careless)
    assert not asks_again(MODEL)
    assert not fails_loudly(MODEL)


def test_a_store_that_fails_otherwise_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(Unwilling):
        async def call(
            self,
            operation: str,
            body: Mapping[str, Any],
            *,
            credentials: Credentials,
            target: AwsTarget,
            deadline: float | None = None,
        ) -> dict[str, Any]:
            raise Unavailable("no")

    monkeypatch.setattr(batches, "Unwilling", Broken)
    assert not asks_again(MODEL)
    assert not fails_loudly(MODEL)
