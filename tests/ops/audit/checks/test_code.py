from dataclasses import replace

import pytest

from gateway.ops.audit.checks.code import idempotent_writes, unprocessed
from gateway.ops.audit.facts import CodeFacts
from gateway.ops.audit.results import Case, LineVerdict
from tests.ops.audit.spoil import changed, facts_of, failures, verdicts

GOOD = CodeFacts(
    sends={"BatchGetItem": ("store/table.py",), "TransactWriteItems": ("store/write/transactions.py",)},
    reads_unprocessed_items=frozenset(),
    keys_asked_again=True,
    fails_loudly=True,
    transaction_tokens=True,
    records_used_by=("store/write/writer.py",),
)


def coded(case: Case, **changes: object) -> Case:
    return changed(case, code=replace(GOOD, **changes))  # type: ignore[arg-type]  # fields by name, as tests need them


def test_code_that_repeats_and_remembers_passes(case: Case) -> None:
    good = coded(case)
    assert failures(unprocessed, good) == failures(idempotent_writes, good) == []
    assert facts_of(unprocessed, good, LineVerdict.NOT_APPLICABLE) == ["this release sends no BatchWriteItem"]


def test_keys_that_are_lost_fail(case: Case) -> None:
    assert failures(unprocessed, coded(case, keys_asked_again=False, fails_loudly=False)) == [
        "tried: keys that DynamoDB leaves unprocessed are not asked for again",
        "tried: keys that stay unprocessed are lost without an error",
    ]


def test_a_batch_write_must_read_what_was_left(case: Case) -> None:
    writing = {**GOOD.sends, "BatchWriteItem": ("store/bulk.py",)}
    assert failures(unprocessed, coded(case, sends=writing)) == [
        "BatchWriteItem without a look at UnprocessedItems: store/bulk.py"
    ]
    careful = coded(case, sends=writing, reads_unprocessed_items=frozenset({"store/bulk.py"}))
    assert verdicts(unprocessed(careful)) == {LineVerdict.PASS}


@pytest.mark.parametrize(
    ("changes", "fact"),
    [
        ({"records_used_by": ()}, "no write is remembered by its idempotency key"),
        (
            {"transaction_tokens": False},
            "transactions are sent without ClientRequestToken: one that is repeated runs twice",
        ),
        (
            {"sends": {**GOOD.sends, "UpdateItem": ("store/counter.py",)}},
            "writes outside of a transaction are not remembered: UpdateItem in store/counter.py",
        ),
    ],
)
def test_writes_that_can_happen_twice_fail(case: Case, changes: dict[str, object], fact: str) -> None:
    assert failures(idempotent_writes, coded(case, **changes)) == [fact]


def test_a_release_that_only_reads_has_nothing_to_remember(case: Case) -> None:
    reading = coded(case, sends={"GetItem": ("store/table.py",)}, records_used_by=())
    assert facts_of(idempotent_writes, reading, LineVerdict.NOT_APPLICABLE) == ["this release sends no writes"]
