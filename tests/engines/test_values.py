"""Values through a real engine: digits, characters and bytes come back as they were."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from gateway.aws.wire.errors import InvalidRequest
from tests.engines.engine import Quirks
from tests.engines.shop import Shop, order, product

pytestmark = pytest.mark.slow

TEXTS = (
    "plain",
    "é ü ß ﬀ",
    "日本語 😀 \U0010fffe",
    'quotes " \\ / and <tags> & more',
    "control \x00 \x01 \x1f \x7f \n\r\t",
    "# TENANT#globex#",
    " ",
)
NUMBERS = (
    "0",
    "-1.5",
    "12345678901234567890123456789012345678",
    "-0.12345678901234567890123456789012345678",
    "1E+125",
    "-9.9999999999999999999999999999999999999E+125",
    "1E-130",
    "100",
    "0.10",
)


async def through(shop: Shop, **changes: Any) -> dict[str, Any]:
    await shop.add("Product", product(1, **changes))
    [found] = await shop.get("product", {"productId": "p0001"})
    assert found is not None
    return found.values


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
async def test_any_text_comes_back_as_it_was(shop: Shop, text: str) -> None:
    assert (await through(shop, title=text))["title"] == text


@pytest.mark.parametrize("number", NUMBERS)
async def test_numbers_keep_every_digit(shop: Shop, number: str) -> None:
    await shop.add("Order", order(1, total=Decimal(number)))
    [found] = await shop.get("order", {"orderId": "o0001"}, names="total")
    assert found is not None
    assert found.values["total"] == Decimal(number)


async def test_sets_come_back_as_they_were(shop: Shop) -> None:
    words = frozenset(text for text in TEXTS if len(text) <= 50)
    assert (await through(shop, tags=words))["tags"] == words


async def test_large_text_is_stored_compressed(shop: Shop) -> None:
    text = "".join(f"line {number} 😀\n" for number in range(9_000))
    assert (await through(shop, description=text))["description"] == text
    [row] = shop.rows("Product", product(1, description=text))
    assert "B" in row["description"]


async def test_timestamps_lists_and_enums_come_back_as_they_were(shop: Shop) -> None:
    timestamp = datetime(2026, 3, 29, 2, 30, 0, 123456, tzinfo=timezone(timedelta(hours=-5)))
    values = order(1, placedAt=timestamp, productIds=["p3", "p1", "p2"], note="Ring twice.")
    await shop.add("Order", values)
    [found] = await shop.get("order", {"orderId": "o0001"})
    assert found is not None
    assert found.values == values
    assert found.values["placedAt"].tzinfo is UTC


async def test_an_empty_text_is_a_text(shop: Shop, quirks: Quirks) -> None:
    if quirks.takes_empty_text:
        assert (await through(shop, title=""))["title"] == ""
    else:
        with pytest.raises(InvalidRequest):
            await through(shop, title="")
