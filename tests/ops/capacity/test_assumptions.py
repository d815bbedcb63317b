import json
from pathlib import Path
from typing import Any

import pytest

from gateway.errors import ConfigurationError
from gateway.model.model import Domain, Model
from gateway.model.patterns import Traffic
from gateway.ops.capacity.assumptions import (
    DEFAULTS,
    Assumptions,
    pattern_traffic,
    read_assumptions,
    write_traffic,
)
from tests.ops.capacity.shop import MODEL, ORDER


def read(path: Path, content: Any) -> Assumptions:
    path.write_text(json.dumps(content), encoding="utf-8")
    return read_assumptions(path, MODEL)


def test_a_file_overrides_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    assumed = read(
        tmp_path / "traffic.json",
        {
            "patterns": {"order": {"per_second": 7}},
            "writes": {"Order": {"per_second": 3, "item_bytes": 2_000}},
            "average_share": 0.5,
        },
    )
    assert pattern_traffic(MODEL, "order", assumed) == Traffic(7, 1, 3_072)
    assert pattern_traffic(MODEL, "lastOrder", assumed) == Traffic(10, 1, 5_000)
    assert write_traffic(MODEL, "Order", assumed) == Traffic(3, 1, 2_000)
    assert (assumed.average_share, assumed.utilisation) == (0.5, DEFAULTS.utilisation)


def test_a_rate_of_zero_is_a_rate(tmp_path: Path) -> None:
    assumed = read(tmp_path / "traffic.json", {"patterns": {"order": {"per_second": 0}}})
    assert pattern_traffic(MODEL, "order", assumed).per_second == 0


def test_without_a_figure_writes_are_a_part_of_the_reads() -> None:
    # 2,000 + 10 + 10 + 1 reads of orders, one write for ten of them, the largest size that is declared
    found = write_traffic(MODEL, "Order", DEFAULTS)
    assert found.per_second == pytest.approx(202.1)
    assert found.item_bytes == 5_000


def test_an_entity_that_nobody_reads_has_a_size_all_the_same() -> None:
    unread = Model(domains=(Domain(name="x", description="X.", entities=(ORDER,), patterns=()),))
    assert write_traffic(unread, "Order", DEFAULTS) == Traffic(0, 1, 500)


def test_an_index_that_holds_some_values_holds_that_part_of_the_items() -> None:
    places = {place.name: place for place in ORDER.placements}
    assert DEFAULTS.entry_share(ORDER, places["GSI1"]) == 1
    assert DEFAULTS.entry_share(ORDER, places["open"]) == 0.25
    # nothing is known of how often a flag is set
    assert DEFAULTS.entry_share(ORDER, places["gifts"]) == 1
    declared = Assumptions.model_validate({"writes": {"Order": {"in_index": {"open": 0.02}}}})
    assert declared.entry_share(ORDER, places["open"]) == 0.02


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ({"patterns": {"orders": {}}}, "patterns.orders: there is no such pattern"),
        ({"writes": {"Orders": {}}}, "writes.Orders: there is no such entity"),
        ({"writes": {"Order": {"in_index": {"GSI9": 1}}}}, "writes.Order.in_index.GSI9: there is no such place"),
        ({"patterns": {"order": {"per_second": -1}}}, "patterns.order.per_second: Input should be greater than"),
        ({"average_share": 0}, "average_share: Input should be greater than 0"),
        ({"averageshare": 1}, "averageshare: Extra inputs are not permitted"),
        ([], "is not a JSON object"),
    ],
)
def test_every_fault_of_a_file_is_named(tmp_path: Path, content: Any, fault: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read(tmp_path / "traffic.json", content)
    assert fault in caught.value.message


def test_a_file_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_assumptions(tmp_path / "absent.json", MODEL)
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 100_000)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_assumptions(deep, MODEL)
