"""Days of the calendar."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from gateway.errors import BadUserInput
from gateway.model.types import Date


def test_a_day_is_stored_and_sorted_as_it_is_written() -> None:
    day = date(2026, 2, 28)
    assert Date().encode("day", day) == {"S": "2026-02-28"}
    assert Date().decoder()({"S": "2026-02-28"}) == Date().key_value("2026-02-28") == day
    assert Date().key_text("day", day) < Date().key_text("day", date(2026, 3, 1))


@pytest.mark.parametrize("value", ["2026-02-28", datetime(2026, 2, 28, tzinfo=UTC), None])
def test_only_a_date_is_one(value: Any) -> None:
    assert len([*Date().faults("day", value)]) == 1


@pytest.mark.parametrize("text", ["2026-02-30", "20260228", "2026-2-8", "2026-W09-6", 20260228, "garbage", None])
def test_what_a_client_writes_wrongly_is_refused(text: Any) -> None:
    parse = Date.scalar.parse
    assert parse is not None
    with pytest.raises(BadUserInput, match="2026-01-31"):
        parse(text)
    assert Date().key_value(str(text)) is None
