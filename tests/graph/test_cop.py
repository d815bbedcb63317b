"""The checks of graphql-cop, as it makes them, against the gateway as it is in production: each finds nothing."""

from typing import Any

import pytest

from tests.graph.fixtures import MemoryEndpoint
from tests.graph.http.test_endpoint import TOKEN

INTROSPECTION = "query cop { __schema { types { name fields { name } } } }"
CIRCULAR = (
    "query cop { __schema { types { fields { type { fields { type { fields { type { fields { type { name }}}}}}}}}}}"
)


@pytest.fixture
def production() -> MemoryEndpoint:
    return MemoryEndpoint(introspection=False)


async def answer_to(api: MemoryEndpoint, query: Any) -> Any:
    body = query if isinstance(query, list) else {"query": query, "operationName": "cop"}
    return (await api.client.post("/graphql", json=body, headers=TOKEN)).json()


async def test_alias_overloading(production: MemoryEndpoint) -> None:
    aliases = " ".join(f"alias{n}: __typename" for n in range(101))
    assert "data" not in await answer_to(production, f"query cop {{ {aliases} }}")


async def test_array_based_query_batching(production: MemoryEndpoint) -> None:
    answer = await answer_to(production, [{"query": "query cop { __typename }"}] * 10)
    assert not isinstance(answer, list)
    assert "data" not in answer


async def test_directive_overloading(production: MemoryEndpoint) -> None:
    answer = await answer_to(production, "query cop { __typename " + "@aa" * 10 + " }")
    assert len(answer["errors"]) < 10


async def test_field_duplication(production: MemoryEndpoint) -> None:
    assert "data" not in await answer_to(production, "query cop { " + "__typename \n" * 500 + "}")


@pytest.mark.parametrize("query", [INTROSPECTION, CIRCULAR])
async def test_introspection_and_circular_introspection(production: MemoryEndpoint, query: str) -> None:
    assert "data" not in await answer_to(production, query)


@pytest.mark.parametrize(
    "query", ["query cop { userz }", "query cop { user(id: 1) { name } }", "query cop { __schem }"]
)
async def test_field_suggestions(production: MemoryEndpoint, query: str) -> None:
    assert "did you mean" not in str(await answer_to(production, query)).lower()


async def test_an_ide_at_the_address(production: MemoryEndpoint) -> None:
    response = await production.client.get("/graphql", headers={**TOKEN, "Accept": "text/html"})
    assert response.status_code == 406
    assert "<html" not in response.text


async def test_mutations_by_get_and_requests_by_form(production: MemoryEndpoint) -> None:
    by_get = await production.client.get("/graphql", params={"query": "mutation cop { __typename }"}, headers=TOKEN)
    assert (by_get.status_code, "data" in by_get.json()) == (405, False)
    form = await production.client.post("/graphql", data={"query": "query cop { __typename }"}, headers=TOKEN)
    assert (form.status_code, "data" in form.json()) == (415, False)


@pytest.mark.parametrize("header", ["X-Apollo-Tracing", "Apollo-Query-Plan-Experimental"])
async def test_traces_and_unhandled_errors(production: MemoryEndpoint, header: str) -> None:
    body = {"query": "query cop { __typename }"}
    answer = (await production.client.post("/graphql", json=body, headers={**TOKEN, header: "1"})).json()
    assert answer == {"data": {"__typename": "Query"}}
    broken = await answer_to(production, "queryy cop { __typename }")
    assert "Traceback" not in str(broken)
