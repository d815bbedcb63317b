"""A change is made once, however its transaction was answered."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.endpoint import AwsTarget
from gateway.aws.wire.errors import (
    AwsError,
    CancellationReason,
    CredentialsExpired,
    TransactionCancelled,
    TransactionInProgress,
)
from gateway.demo import MODEL
from gateway.demo.commerce.stocking import OUT_OF_STOCK
from gateway.errors import Conflict
from gateway.store.rows import Item
from gateway.store.write.faults import Fault, Rejected
from gateway.store.write.transactions import Transactions
from gateway.store.write.writer import MutationResult, Writer
from gateway.testing.memory import Answer, Memory
from tests.store.editing import editing
from tests.store.fixtures import TABLE

STOCK = ("TENANT#acme#PRODUCT#p", "STOCK")
LESS = Fault(OUT_OF_STOCK, "there is not enough")


@dataclass
class Remembering(Memory):
    """With client tokens, as DynamoDB has them: a transaction that was made is not made again."""

    made: dict[str, Answer] = field(default_factory=dict)

    async def call(
        self,
        operation: str,
        body: Mapping[str, Any],
        *,
        credentials: Credentials,
        target: AwsTarget,
        deadline: float | None = None,
    ) -> Answer:
        token = body.get("ClientRequestToken", "")
        if token in self.made:
            self.sent.append((operation, dict(body)))
            return self.made[token]
        count = len(self.rows), [dict(row) for row in self.rows.values()]
        try:
            answer = await super().call(operation, body, credentials=credentials, target=target, deadline=deadline)
        finally:
            if count != (len(self.rows), list(self.rows.values())):
                self.made[token] = {}
        return answer

    @property
    def tokens(self) -> list[str]:
        return [body["ClientRequestToken"] for operation, body in self.sent if operation == "TransactWriteItems"]


def then(error: AwsError) -> Callable[[Answer], Answer]:
    """The transaction is carried out, and answered with this."""

    def fail(answer: Answer) -> Answer:
        raise error

    return fail


def cancelled(*, uncertain: bool) -> TransactionCancelled:
    error = TransactionCancelled("the transaction was cancelled")
    error.reasons = (CancellationReason("TransactionConflict", ""),)
    error.uncertain = uncertain
    return error


@pytest.fixture
async def memory() -> Remembering:
    made = Remembering(MODEL.table, TABLE)
    writer = editing(made)
    key = {"PK": {"S": "TENANT#acme#PRODUCT#p"}, "SK": {"S": "DETAILS"}}
    made.rows["TENANT#acme#PRODUCT#p", "DETAILS"] = {**key, "EntityType": {"S": "Product"}, "version": {"N": "1"}}
    change = writer.change()
    change.create("Stock", {"productId": "p", "available": 5, "updatedAt": datetime(2026, 3, 1, tzinfo=UTC)})
    await writer.commit(change, MutationResult(Item("Stock", {}, "")))
    made.sent.clear()
    return made


async def take(writer: Writer) -> None:
    """Without an idempotency key: nothing but the transaction itself keeps it from being made twice."""
    change = writer.change()
    change.add("Stock", {"productId": "p"}, {"available": -1}, LESS, never_below_zero=True)
    await Transactions(writer.table, MODEL).run(writer.access, change)


async def test_an_item_that_exists_is_the_fault_that_its_creator_names(memory: Remembering) -> None:
    writer = editing(memory)
    change = writer.change()
    values = {"productId": "p", "available": 1, "updatedAt": datetime(2026, 3, 1, tzinfo=UTC)}
    change.create("Stock", values, taken=LESS)
    with pytest.raises(Rejected) as rejected:
        await writer.commit(change, MutationResult(Item("Stock", {}, "")))
    assert rejected.value.faults == (LESS,)


@pytest.mark.parametrize("error", [TransactionInProgress("still being carried out"), cancelled(uncertain=True)])
async def test_what_may_have_been_made_is_tried_again_as_the_same_transaction(
    memory: Remembering, error: AwsError
) -> None:
    memory.script["TransactWriteItems"].append(then(error))
    await take(editing(memory))
    assert memory.rows[STOCK]["available"] == {"N": "4"}


async def test_a_session_that_ends_meanwhile_does_not_make_it_another_transaction(memory: Remembering) -> None:
    writer = editing(memory)

    async def renew(refused: object) -> Any:
        return writer.access.session

    writer.table._renew = renew
    memory.script["TransactWriteItems"].append(then(CredentialsExpired("the session with aws is over")))
    await take(writer)
    assert memory.rows[STOCK]["available"] == {"N": "4"}


async def test_after_a_cancellation_it_is_another_transaction(memory: Remembering) -> None:
    memory.script["TransactWriteItems"].extend([cancelled(uncertain=False), cancelled(uncertain=False)])
    await take(editing(memory))
    assert memory.rows[STOCK]["available"] == {"N": "4"}
    assert len(set(memory.tokens)) == 3


async def test_conflicts_without_end_are_reported(memory: Remembering) -> None:
    memory.script["TransactWriteItems"].extend(cancelled(uncertain=False) for _ in range(8))
    with pytest.raises(Conflict, match="being changed by others"):
        await take(editing(memory))
    assert memory.rows[STOCK]["available"] == {"N": "5"}
