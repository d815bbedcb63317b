from pathlib import Path

import pytest

from gateway.demo import MODEL
from gateway.ops.audit.gather.code import PACKAGE, code_facts


def test_the_gateway_sends_what_its_store_sends() -> None:
    found = code_facts(MODEL)
    assert {"GetItem", "BatchGetItem", "Query", "TransactWriteItems"} <= found.sends.keys()
    assert "Scan" not in found.sends
    assert found.transaction_tokens
    assert (PACKAGE / "store" / "table.py").is_file()


def test_a_question_about_permissions_is_no_request(tmp_path: Path) -> None:
    package = written(tmp_path, 'permissions.check("PutItem", body)\nself._table.call(access, "UpdateItem", body)')
    assert code_facts(MODEL, package).sends == {"UpdateItem": ("store/made.py",)}


@pytest.mark.parametrize("room", ["store", "graph", "domains"])
def test_whatever_reads_a_whole_table_is_not_even_mentioned(tmp_path: Path, room: str) -> None:
    package = written(tmp_path, 'OPERATION = "Scan"', room)
    assert code_facts(MODEL, package).sends == {"Scan": (f"{room}/made.py",)}


def test_who_reads_what_was_left_and_who_remembers_is_seen(tmp_path: Path) -> None:
    source = (
        'from gateway.store.write.idempotency import once\nleft = answer.get("UnprocessedItems")\nself._call(1, 2, x)'
    )
    found = code_facts(MODEL, written(tmp_path, source))
    assert found.reads_unprocessed_items == {"store/made.py"}
    assert found.records_used_by == ("store/made.py",)


def written(package: Path, source: str, room: str = "store") -> Path:
    (package / room).mkdir()
    (package / room / "made.py").write_text(source, encoding="utf-8")
    return package
