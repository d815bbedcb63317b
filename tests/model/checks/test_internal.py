"""Internal entities: in the table, and not in the schema."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.errors import ModelError
from gateway.model.model import Model


def faults(*internal: str) -> list[str]:
    domains: Any = tuple(
        replace(domain, entities=tuple(replace(each, internal=each.name in internal) for each in domain.entities))
        for domain in MODEL.domains
    )
    try:
        Model(domains=domains)
    except ModelError as error:
        return list(error.faults)
    return []


def test_a_total_may_read_what_is_internal() -> None:
    assert faults("Counter") == []


@pytest.mark.parametrize(
    ("entity", "fault"),
    [
        ("Stock", "entity Product: relation `stock` leads to Stock, which is internal: only a Total may"),
        ("OrderLine", "entity Order: relation `lines` leads to OrderLine, which is internal"),
        ("Author", "mutation createAuthor: answers with Author, which is internal: answer with another entity"),
        ("Order", "query ordersToShip: it returns Order, which is internal"),
        ("Order", "choice ordersOfUser: `ordersOfUserByStatus` lists Order, which is internal"),
    ],
)
def test_what_leads_to_it_is_refused(entity: str, fault: str) -> None:
    assert any(each.startswith(fault) for each in faults(entity))
