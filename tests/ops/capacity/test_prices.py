import json
from datetime import date
from pathlib import Path

import pytest

from gateway.errors import ConfigurationError
from gateway.ops.capacity.prices import SHIPPED, read_prices


def test_the_shipped_prices_are_those_since_november_2024() -> None:
    prices = read_prices()
    assert (prices.on_demand.write_million, prices.on_demand.read_million) == (0.625, 0.125)
    assert (prices.provisioned.write_hour, prices.provisioned.read_hour) == (0.00065, 0.00013)
    assert date.fromisoformat(prices.as_of) >= date(2024, 11, 1)
    assert prices.region == "us-east-1"
    assert "1.25 and 0.25" in prices.source


def test_a_file_of_ones_own_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text(json.dumps({**json.loads(SHIPPED.read_text()), "region": "eu-west-1"}))
    assert read_prices(path).region == "eu-west-1"


@pytest.mark.parametrize(("content", "fault"), [("{}", "prices: region: Field required"), ("?", "cannot be read")])
def test_a_file_that_is_no_price_list_is_refused(tmp_path: Path, content: str, fault: str) -> None:
    path = tmp_path / "prices.json"
    path.write_text(content)
    with pytest.raises(ConfigurationError, match=fault):
        read_prices(path)
