"""The playground's examples: each one is valid, and each query answers for every demo tenant."""

from datetime import UTC, datetime

import pytest
from graphql import OperationDefinitionNode, parse, validate
from graphql.execution.values import get_variable_values

from gateway.demo import MODEL
from gateway.demo.shops import SHOPS
from gateway.graph.schema.schema import core_schema
from gateway.model.demo import Example, demo_examples
from tests.graph.fixtures import SCHEMA, MemoryEndpoint

CORE = core_schema(SCHEMA)
NAMED = demo_examples(MODEL, datetime.now(UTC))
EXAMPLES = [example for _, example in NAMED]
TENANTS = [shop.tenant for shop in SHOPS]

# the id of one tenant, which names nothing for the others: that is what it shows
BOUND = "AnyNode"

each_example = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.title)


def operation(example: Example) -> OperationDefinitionNode:
    [node] = parse(example.query).definitions
    assert isinstance(node, OperationDefinitionNode)
    return node


@each_example
def test_an_example_is_one_valid_named_operation(example: Example) -> None:
    assert validate(CORE, parse(example.query)) == []
    assert operation(example).name is not None


@each_example
def test_its_variables_are_what_it_declares(example: Example) -> None:
    declared = operation(example).variable_definitions or ()
    for tenant in TENANTS:
        given = dict(example.variables_of(tenant))
        assert given.keys() <= {definition.variable.name.value for definition in declared}
        # a list of errors in place of the values is what graphql-core answers to wrong ones
        assert not isinstance(get_variable_values(CORE, declared, given), list)


def test_every_domain_has_examples_and_one_of_them_is_open() -> None:
    for domain in MODEL.domains:
        own = [example for name, example in NAMED if name == domain.name]
        assert [example for example in own if example.tab], f"no example of {domain.name} is a tab"


def test_tabs_fit_on_a_screen_and_no_two_are_called_the_same() -> None:
    assert len([example for example in EXAMPLES if example.tab]) <= 7
    names = [operation(example).name for example in EXAMPLES]
    assert len({name.value for name in names if name is not None}) == len(EXAMPLES)


def test_tenants_of_their_own_variables_exist() -> None:
    assert {tenant for example in EXAMPLES for tenant in example.tenants} <= set(TENANTS)


@pytest.mark.parametrize("tenant", TENANTS)
@each_example
async def test_it_answers_for_every_demo_tenant(api: MemoryEndpoint, example: Example, tenant: str) -> None:
    role = "admin" if operation(example).operation.value == "mutation" else "viewer"
    data = await api.ask(example.query, dict(example.variables_of(tenant)), f"{tenant}/{role}")
    for found in data.values():
        assert found is not None or (BOUND in example.query and tenant != TENANTS[0])
        assert role == "viewer" or found["errors"] == []
