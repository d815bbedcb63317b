"""The reference executor: graphql-core on our schema, with its errors, and with nothing kept between requests."""

import gc
from typing import Any

import pytest
from graphql import ExecutionResult, Executor

from gateway.errors import Forbidden
from gateway.graph.query.operation import Admitted
from gateway.store.access import Access
from tests.graph.fixtures import MemoryEndpoint, TrustingCallers

TEXT = """query A($id: ID!, $with: Boolean = true) { user(userId: $id) { userId name @include(if: $with) ...More } }
fragment More on User { orders(first: 1) { nodes { orderId } } }"""


async def run(api: MemoryEndpoint, text: str, variables: dict[str, Any], token: str = "acme/viewer") -> ExecutionResult:
    document = api.endpoint.documents.get(text)
    operation = document.operation(None)
    assert operation is not None, document.errors
    admitted = operation.admit(variables)
    assert isinstance(admitted, Admitted)
    caller = await TrustingCallers().open(f"Bearer {token}".encode(), lambda _: None)
    return await api.endpoint.reference.run(
        admitted.variant, operation, variables, admitted.variables, Access(caller.session)
    )


async def test_a_variant_is_run_again_with_other_variables_and_for_other_tenants(api: MemoryEndpoint) -> None:
    api.change("TENANT#globex#USER#u-1001", "PROFILE", name={"S": "Robin of Globex"})
    results = [
        await run(api, TEXT, {"id": "u-1001"}),
        await run(api, TEXT, {"id": "u-1002"}),
        await run(api, TEXT, {"id": "u-1001"}, "globex/viewer"),
    ]
    users = [(result.data or {})["user"] for result in results]
    assert [user["userId"] for user in users] == ["u-1001", "u-1002", "u-1001"]
    assert users[2]["name"] == "Robin of Globex" != users[0]["name"]


@pytest.mark.parametrize("included", [True, False])
async def test_conditions_choose_the_fields(api: MemoryEndpoint, included: bool) -> None:
    result = await run(api, TEXT, {"id": "u-1001", "with": included})
    assert result.errors is None
    assert ("name" in (result.data or {})["user"]) is included


async def test_a_refused_field_is_null_with_its_error_and_the_others_are_answered(api: MemoryEndpoint) -> None:
    result = await run(api, TEXT, {"id": "u-1001"}, "acme/support")
    user = (result.data or {})["user"]
    assert (user["userId"], user["name"], len(user["orders"]["nodes"])) == ("u-1001", None, 1)
    [error] = result.errors or []
    assert (error.path, type(error.original_error)) == (["user", "name"], Forbidden)


async def test_an_operation_that_cannot_run_has_the_errors_of_graphql_core(api: MemoryEndpoint) -> None:
    document = api.endpoint.documents.get("query A { __typename } query B { __typename }")
    result = await api.endpoint.reference.execute(document, None, {})
    assert result.data is None
    assert [error.message for error in result.errors or ()] == [
        "Must provide operation name if query contains multiple operations."
    ]


@pytest.mark.usefixtures("frozen_heap")
async def test_an_execution_is_freed_with_its_document(api: MemoryEndpoint) -> None:
    """In a cycle, both would wait for the garbage collector."""
    await run(api, TEXT, {"id": "u-1001"})
    gc.collect()
    gc.disable()
    before = {id(each) for each in gc.get_objects() if isinstance(each, Executor)}
    try:
        await run(api, TEXT, {"id": "u-1001"})
        assert not [each for each in gc.get_objects() if isinstance(each, Executor) and id(each) not in before]
    finally:
        gc.enable()
