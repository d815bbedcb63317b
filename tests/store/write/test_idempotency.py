"""Idempotency keys: what counts as the same change."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from gateway.errors import BadUserInput
from gateway.store.write.idempotency import once


def test_a_set_is_the_same_in_whatever_order_a_process_keeps_it() -> None:
    one, other = frozenset([0, 8]), frozenset([8, 0])
    assert one == other
    assert list(one) != list(other), "as two processes keep the same words in two orders"
    assert once("key", "createProduct", {"tags": one}) == once("key", "createProduct", {"tags": other})


@pytest.mark.parametrize(
    ("mutation", "arguments"),
    [
        ("updateThing", {"name": "a", "at": datetime(2026, 1, 1, tzinfo=UTC)}),
        ("createThing", {"name": "b", "at": datetime(2026, 1, 1, tzinfo=UTC)}),
        ("createThing", {"name": "a", "at": datetime(2026, 1, 2, tzinfo=UTC)}),
        ("createThing", {"name": "a", "at": datetime(2026, 1, 1, tzinfo=UTC), "price": Decimal("1.5")}),
        ("createThing", {"name": "a"}),
    ],
)
def test_another_change_has_another_fingerprint(mutation: str, arguments: dict[str, Any]) -> None:
    known = once("key", "createThing", {"name": "a", "at": datetime(2026, 1, 1, tzinfo=UTC)})
    assert once("key", mutation, arguments).fingerprint != known.fingerprint


@pytest.mark.parametrize("key", ["", "x" * 257])
def test_a_key_has_a_length(key: str) -> None:
    with pytest.raises(BadUserInput):
        once(key, "createThing", {})
