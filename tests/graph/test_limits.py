"""Limits count what a document expands to; the schema itself can always be asked for as tools do."""

from graphql import get_introspection_query, parse

from gateway.graph.limits import DocumentLimits, faults
from tests.graph.world import World

LIMITS = DocumentLimits()


def test_what_tools_ask_about_the_schema_is_within_the_limits() -> None:
    for deprecated in (True, False):
        query = get_introspection_query(input_value_deprecation=deprecated, schema_description=True)
        assert faults(parse(query), LIMITS) == []


def test_introspection_does_not_lend_its_depth_to_other_fields() -> None:
    deep = "{ a " * LIMITS.depth + "{ b }" + " }" * LIMITS.depth
    assert faults(parse(f"query {{ __schema {{ types {{ name }} }} {deep[1:-1]} }}"), LIMITS)


def test_introspection_still_counts_its_fields() -> None:
    many = " ".join(f"a{number}: name" for number in range(3_000))
    assert faults(parse(f"{{ __schema {{ types {{ {many} }} }} }}"), LIMITS)


async def test_introspection_that_nests_is_refused(world: World) -> None:
    nested = "{ __schema { types { fields { type { fields { type { fields { type { fields { name } } } } } } } } } }"
    response = await world.post(nested)
    assert response.json()["errors"][0]["extensions"]["code"] == "GRAPHQL_VALIDATION_FAILED"
