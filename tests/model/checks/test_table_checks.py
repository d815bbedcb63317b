import pytest

from gateway.model.table import Index, TableSpec
from tests.model.build import fault, passes, thing

GSI1 = Index("GSI1", "GSI1PK", "GSI1SK")


def said(*indexes: Index) -> str:
    return fault(thing(), table=TableSpec(indexes=indexes))


def test_a_table_may_have_no_index_at_all() -> None:
    assert passes(thing(), table=TableSpec(indexes=()))


@pytest.mark.parametrize("pk", ["SK", "EntityType", "GSI1SK", "GSI1PK", "PK"])
def test_an_index_over_a_key_that_is_not_its_own_is_not_tenant_scoped(pk: str) -> None:
    inverted = Index("Inverted", pk, "InvertedSK")
    assert f"its key `{pk}` is used twice, so it is not tenant-scoped by itself" in said(inverted, GSI1)


def test_an_inverted_index_is_named_in_the_fault() -> None:
    assert said(Index("Inverted", "SK", "PK")).startswith("index Inverted: its key `SK`")


def test_the_table_uses_each_attribute_for_one_thing() -> None:
    assert fault(thing(), table=TableSpec(ttl="version")).startswith("table: an attribute of its own is used twice")


@pytest.mark.parametrize("name", ["GI", "by status", "x" * 256, "by/status"])
def test_an_index_has_a_name_that_dynamodb_takes(name: str) -> None:
    assert (
        said(Index(name, "GSI1PK", "GSI1SK")) == f"index {name}: a name has 3 to 255 letters, digits, `_`, `.` and `-`"
    )


def test_an_index_is_declared_once() -> None:
    assert said(GSI1, Index("GSI1", "GSI2PK", "GSI2SK")) == "index GSI1: is declared twice"


def test_an_index_holds_whole_items() -> None:
    assert said(Index("GSI1", "GSI1PK", "GSI1SK", "KEYS_ONLY")).startswith("index GSI1: its projection is `KEYS_ONLY`")


def test_dynamodb_allows_twenty_indexes() -> None:
    indexes = tuple(Index(f"GSI{n}", f"GSI{n}PK", f"GSI{n}SK") for n in range(21))
    assert said(*indexes) == "table: it has 21 indexes, DynamoDB allows 20"
    assert passes(thing(), table=TableSpec(indexes=indexes[:20]))
