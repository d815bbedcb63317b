"""What a client answers and raises."""

import pytest

from gateway.testing.client import GraphQLErrors
from gateway.testing.serve import serve
from tests.examples.conftest import examples

__all__ = ["examples"]


def test_errors_are_reported_with_codes_status_and_messages() -> None:
    with serve("helpdesk.domain") as client, pytest.raises(GraphQLErrors) as refused:
        client.query("{ nothing }")
    assert refused.value.codes == ["GRAPHQL_VALIDATION_FAILED"]
    assert refused.value.status == 200
    assert refused.value.data is None
    assert "GRAPHQL_VALIDATION_FAILED: Cannot query field" in str(refused.value)


def test_a_failed_expectation_of_no_errors_is_a_failed_test() -> None:
    assert issubclass(GraphQLErrors, AssertionError)


async def test_many_queries_at_once_are_served() -> None:
    import asyncio

    async with serve("helpdesk.domain") as client:
        texts = ["{ __typename }"] * 20
        assert await asyncio.gather(*map(client.query, texts)) == [{"__typename": "Query"}] * 20
