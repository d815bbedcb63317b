"""Faults of a row, and their repair."""

from typing import Any

import pytest

from gateway.ops.migrate.row_checker import RowChecker, RowFault, written
from tests.ops.migrate.whole import new_row
from tests.store.fixtures import TABLE
from tests.store.growing import NEW, old_rows

CHECKER = RowChecker(NEW)


def changed(row: dict[str, Any], **attributes: Any) -> dict[str, Any]:
    merged = {**row, **attributes}
    return {name: value for name, value in merged.items() if value is not None}


@pytest.mark.parametrize(
    ("changes", "faults"),
    [
        ({}, ()),
        ({"nobody": {"S": "declared this"}}, ()),
        ({"GSI1PK": None, "GSI1SK": None}, (RowFault.MISSING,)),
        ({"GSI2PK": {"S": "TENANT#acme#STATE#OPEN#9"}}, (RowFault.WRONG,)),
        ({"GSI3PK": {"S": "TENANT#acme#X"}, "GSI3SK": {"S": "x"}}, (RowFault.WRONG,)),
        ({"ttl": {"N": "9999999999"}}, (RowFault.WRONG,)),
        ({"ttl": {"N": "1"}, "GSI1PK": None}, ()),
        ({"PK": {"S": "TENANT#acme#TICKET#other"}}, (RowFault.UNREADABLE,)),
        ({"PK": {"S": "TICKET#t001"}}, (RowFault.UNREADABLE,)),
        ({"state": {"S": "LOST"}}, (RowFault.UNREADABLE,)),
        ({"state": None}, (RowFault.UNREADABLE,)),
    ],
)
def test_a_row_of_the_newest_schema(changes: dict[str, Any], faults: tuple[RowFault, ...]) -> None:
    verdict = CHECKER.verdict(changed(new_row(1)[0], **changes))
    assert verdict.faults == faults
    assert bool(verdict.repair) is (bool(faults) and faults != (RowFault.UNREADABLE,))
    assert bool(verdict.reason) is (faults == (RowFault.UNREADABLE,))


def test_an_old_row_and_its_copy_are_stale_and_repaired_together() -> None:
    original, copy = old_rows(1)
    verdict = CHECKER.verdict(original)
    assert verdict.faults[:2] == (RowFault.STALE, RowFault.MISSING)
    assert verdict.repair is not None
    operation, body = written(NEW, TABLE, verdict.repair)
    assert operation == "TransactWriteItems"
    assert body["TransactItems"][1]["Put"]["Item"] == new_row(0)[1]
    assert CHECKER.verdict(copy).faults == (RowFault.STALE,)
    assert CHECKER.verdict(copy).repair is None
    assert CHECKER.verdict(new_row(0)[1]).faults == ()


def test_an_index_entry_alone_is_repaired_without_a_transaction() -> None:
    verdict = CHECKER.verdict(changed(new_row(1)[0], GSI1PK=None, GSI3PK={"S": "TENANT#acme#X"}))
    assert verdict.repair is not None
    operation, body = written(NEW, TABLE, verdict.repair)
    assert operation == "UpdateItem"
    names = body["ExpressionAttributeNames"]
    assert {name for alias, name in names.items() if alias[:2] in ("#s", "#r")} == {"schema", "GSI1PK", "GSI3PK"}
    assert body["UpdateExpression"] == "SET #s0 = :s0 REMOVE #r0"


def test_no_reason_shows_a_value() -> None:
    row = changed(new_row(1)[0], state={"S": "a secret"})
    assert "secret" not in CHECKER.verdict(row).reason
