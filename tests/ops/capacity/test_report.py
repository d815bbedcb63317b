import re

from gateway.ops.capacity.assumptions import Assumptions
from gateway.ops.capacity.demand import Need
from gateway.ops.capacity.measured import Measured, MeasuredOperation
from gateway.ops.capacity.plan import plan
from gateway.ops.capacity.prices import read_prices
from gateway.ops.capacity.report import page
from tests.ops.capacity.shop import MODEL

PRICES = read_prices()


def text(measured: Measured | None = None, **assumed: object) -> str:
    return page(plan(MODEL, Assumptions.model_validate(assumed), PRICES, measured))


def test_the_page_tells_every_section() -> None:
    headings = re.findall(r"^#+ (.*)$", text(), flags=re.MULTILINE)
    assert headings == [
        "Capacity",
        "What each pattern and write takes",
        "What the table and each index need",
        "What a month costs",
        "The busiest partitions",
        "Would DAX pay?",
        "What an audit trail costs",
    ]


def test_prices_stand_with_their_date_and_source() -> None:
    assert f"as of {PRICES.as_of}" in text()
    assert PRICES.source in text()


def test_every_pattern_has_a_row() -> None:
    assert "| order | table | 2,000/s | 0.5 | 1,000.0 RCU |  |" in text()


def test_amplification_is_told() -> None:
    quiet = text(writes_per_read=0)
    assert "0.0 writes a second become 0.0 WCU" in quiet
    writes = {
        "Reading": {"per_second": 500, "item_bytes": 2_560, "transactional": False, "record": False},
    }
    assert "500.0 writes a second become 1,500.0 WCU, 3.0 for each write" in text(writes_per_read=0, writes=writes)


def test_every_hot_partition_is_shown_with_advice() -> None:
    hot = text(writes={"Order": {"per_second": 40_000, "item_bytes": 500, "moves": 0}})
    assert "| hot | 9 shards instead of 4 |" in hot
    assert "| hot |" not in text(writes_per_read=0)


def test_dax_comes_with_its_warning() -> None:
    assert "DAX knows no tenants" in text()


def test_storage_and_a_break_even_out_of_reach_are_told() -> None:
    assert "| storage | 25.00 | in every mode |" in text(storage_gb=125)
    assert "is never cheaper" in text(utilisation=0.2)


def test_what_was_measured_is_a_section_of_its_own() -> None:
    operations = tuple(MeasuredOperation(f"Op{number}", 2, 4, 3.0) for number in range(20))
    found = text(Measured(120, operations, Need(0.5, 0), Need(1, 0), skipped=3))
    assert "40 operations in 2.0 minutes;" in found
    assert "| Op0 | 2 | 2.0 | 1.50 | 3.0 |" in found
    assert "| Op19 |" not in found
    assert "3 other lines were left out." in found
