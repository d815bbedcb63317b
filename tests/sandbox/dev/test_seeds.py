"""The rows of a domain's demo, as they are stored, and what is said of rows that do not fit the model."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.errors import ConfigurationError
from gateway.model.demo import Demo, DemoTenant
from gateway.model.model import Model
from gateway.sandbox.dev.seeds import canary, seed_items
from tests.store.fixtures import MODEL

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
[THINGS] = MODEL.domains
TENANTS = (DemoTenant("acme"), DemoTenant("globex"))
TAG = {"thingId": "t-1", "word": "red"}


def seeded(*rows: Any) -> Model:
    demo = Demo(tenants=TENANTS, rows=lambda tenant, now: [row for row in rows if tenant == "acme"])
    return Model(domains=(replace(THINGS, demo=demo),))


def test_a_row_is_stored_as_a_mutation_stores_it_with_the_canary_of_its_tenant() -> None:
    [item] = seed_items(seeded(("Tag", TAG)), NOW)
    assert item == {
        "PK": {"S": "TENANT#acme#THING#t-1"},
        "SK": {"S": "AT#red"},
        "EntityType": {"S": "Tag"},
        "version": {"N": "1"},
        "thingId": {"S": "t-1"},
        "word": {"S": "red"},
        "canary": {"S": canary("acme")},
    }


def test_the_canary_differs_by_tenant_and_not_by_start() -> None:
    assert canary("acme") == "canary-acme-" + canary("acme")[-12:]
    assert canary("acme")[-12:] != canary("globex")[-12:]


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        (("Label", {}), "Label: there is no such entity; the model has Reading, Tag, Thing"),
        (("Tag", {**TAG, "colour": "red"}), "Tag: Tag has no attribute `colour`"),
        (("Tag", {"thingId": "t-1"}), "`word`"),
        (("Tag", {**TAG, "until": "tomorrow"}), "Tag: `until` needs a date and time"),
        ("Tag", "a row is the name of an entity and its values"),
        (("Tag", TAG, 1), "a row is the name of an entity and its values"),
    ],
)
def test_a_row_that_does_not_fit_is_named_with_its_domain_and_tenant(row: Any, fault: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        seed_items(seeded(row), NOW)
    [message] = refused.value.faults
    assert message.startswith("demo rows of domain things, tenant acme: ")
    assert fault in message


def test_two_rows_with_one_key_are_reported() -> None:
    with pytest.raises(ConfigurationError, match="another row has the key `TENANT#acme#THING#t-1` / `AT#red`"):
        seed_items(seeded(("Tag", TAG), ("Tag", TAG)), NOW)


def test_all_faulty_rows_are_reported_at_once_up_to_ten() -> None:
    with pytest.raises(ConfigurationError) as refused:
        seed_items(seeded(*[(f"Label{number}", {}) for number in range(12)]), NOW)
    assert len(refused.value.faults) == 10
