"""Sizes learned from reads and writes: they rise above what is declared, come down again, and never below it."""

from typing import Any

import pytest

from gateway.model.tenant import TenantId
from gateway.store import item_sizes
from gateway.store.item_sizes import NOTHING_LEARNED, ItemSizes, SizedPlace
from tests.store.fixtures import ACME, GLOBEX, MODEL

THING = SizedPlace("Thing")


@pytest.fixture
def sizes() -> ItemSizes:
    return ItemSizes(MODEL)


def learned(sizes: ItemSizes, tenant: TenantId = ACME) -> float:
    return sizes.known.get(tenant, NOTHING_LEARNED).get(THING, 0)


def test_a_query_that_took_more_units_shows_the_size_of_its_items(sizes: ItemSizes) -> None:
    form = sizes.form("Thing", "GSI1", "Query", strong=False)
    sizes.was_read(ACME, form, 6, 210, 1_000)
    assert learned(sizes) == pytest.approx(500 + ((210 * 8_192 - 4_096) / 6 - 500) * 6 / 9)
    assert learned(sizes, GLOBEX) == 0, "the large items of one tenant do not make another's lists expensive"
    for _ in range(20):
        sizes.was_read(ACME, form, 6, 210, 1_000)
    assert learned(sizes) == pytest.approx((210 * 8_192 - 4_096) / 6, rel=0.01)


def test_the_average_comes_down_to_what_is_declared_and_is_then_forgotten(sizes: ItemSizes) -> None:
    form = sizes.form("Thing", None, "Query", strong=False)
    sizes.was_read(ACME, form, 6, 210, 1_000)
    before = learned(sizes)
    sizes.was_read(ACME, form, 100, 6, 60_000)
    assert 500 < learned(sizes) < before / 10
    for _ in range(5):
        sizes.was_read(ACME, form, 100, 6, 60_000)
    assert sizes.known == {}


@pytest.mark.parametrize(
    ("operation", "items", "units", "content"),
    [
        ("Query", 1, 0.5, 900),
        ("Query", 3, 1, 900),  # what an engine may report for every Query
        ("Query", 20, 1.5, 20_000),
        ("GetItem", 1, 0.5, 900),
        ("BatchGetItem", 100, 50, 90_000),  # each item is rounded up for itself
    ],
)
def test_items_as_large_as_declared_teach_nothing(
    sizes: ItemSizes, operation: str, items: int, units: float, content: int
) -> None:
    sizes.was_read(ACME, sizes.form("Thing", None, operation, strong=False), items, units, content)
    assert sizes.known == {}


def test_the_bytes_of_an_answer_show_what_an_engine_does_not_bill(sizes: ItemSizes) -> None:
    sizes.was_read(ACME, sizes.form("Thing", None, "Query", strong=False), 6, 1, 6 * 285_000)
    assert learned(sizes) > 150_000
    # a list that leaves the large attribute out does not make the items smaller
    sizes.was_read(ACME, sizes.form("Thing", None, "Query", strong=False), 6, 1, 900)
    assert learned(sizes) > 150_000


def row(**more: Any) -> dict[str, Any]:
    return {"PK": {"S": "TENANT#acme#THING#1"}, "SK": {"S": "DETAILS"}, "EntityType": {"S": "Thing"}, **more}


def test_a_written_item_shows_its_size(sizes: ItemSizes) -> None:
    sizes.was_written(ACME, "Thing", 400)
    assert sizes.known == {}
    sizes.was_written(ACME, "Thing", 285_000)
    assert learned(sizes) == pytest.approx(285_000 / 4, rel=0.02)
    sizes.was_written(ACME, "Thing", 5_000)
    assert learned(sizes) < 285_000 / 4


def test_a_filtered_read_and_rows_of_several_entities_teach_nothing(sizes: ItemSizes) -> None:
    large = {"Items": [row(text={"S": "x" * 50_000})], "ConsumedCapacity": {"CapacityUnits": 6.5}}
    sizes.learn(ACME, "Query", {"FilterExpression": "#f0 = :f0"}, large)
    sizes.learn(ACME, "Query", {}, {**large, "Items": [*large["Items"], {**row(), "EntityType": {"S": "Tag"}}]})
    assert sizes.known == {}
    sizes.learn(ACME, "Query", {}, large)
    assert learned(sizes) > 10_000
    assert sizes.explained(ACME)[0]["declared"] == 500
    assert sizes.explained(GLOBEX) == []


def test_only_so_many_tenants_are_remembered(sizes: ItemSizes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(item_sizes, "MOST_TENANTS", 3)
    for number in range(5):
        sizes.was_written(TenantId(f"tenant-{number}"), "Thing", 300_000)
    assert list(sizes.known) == ["tenant-2", "tenant-3", "tenant-4"]


def test_what_is_learned_settles_so_that_estimates_can_be_remembered(sizes: ItemSizes) -> None:
    form = sizes.form("Thing", "GSI1", "Query", strong=False)
    for _ in range(50):
        sizes.was_read(ACME, form, 6, 210, 1_000)
    settled = sizes.known[ACME]
    sizes.was_read(ACME, form, 6, 210, 1_000)
    assert sizes.known[ACME] is settled
    sizes.was_read(ACME, form, 6, 420, 1_000)
    assert sizes.known[ACME].number != settled.number
    assert settled[THING] < sizes.known[ACME][THING]
