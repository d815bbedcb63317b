"""Documents that take long to parse: too large ones are refused unparsed, and the others delay nobody else."""

import asyncio
from typing import Any

import pytest

from gateway.graph.http.endpoint import EndpointLimits
from gateway.graph.query.limits import DocumentLimits
from tests.graph.fixtures import MemoryEndpoint
from tests.graph.http.test_endpoint import code

KNOWN = '{ product(productId: "p-1001") { productId } }'


def padded(size: int, text: str = KNOWN) -> str:
    return text + " " * (size - len(text))


async def test_a_document_is_refused_by_its_size_before_it_is_parsed(api: MemoryEndpoint) -> None:
    # it is no GraphQL, and what is parsed would say so
    response = await api.post("}" * 65_537)
    assert code(response) == "LIMIT_EXCEEDED"
    assert "65537 characters, at most 65536" in response.json()["errors"][0]["message"]
    assert api.memory.sent == []


async def test_a_document_may_be_as_large_as_the_limit(api: MemoryEndpoint) -> None:
    assert (await api.ask(padded(65_536)))["product"]["productId"] == "p-1001"


async def test_the_limit_of_a_document_can_be_set() -> None:
    api = MemoryEndpoint(document_limits=DocumentLimits(chars=1_000))
    assert code(await api.post(padded(1_001))) == "LIMIT_EXCEEDED"
    assert await api.ask(padded(1_000))


@pytest.mark.parametrize(
    "token",
    ['"' + "x" * 16_383 + '"', '"' + "\N{GRINNING FACE}" * 4_096 + '"', '"""' + "x" * 16_384 + '"""', "x" * 16_385],
    ids=["a string", "a string of few characters and many bytes", "a block string", "a name"],
)
async def test_one_token_has_a_limit_of_its_own(api: MemoryEndpoint, token: str) -> None:
    response = await api.post(f"{{ product(productId: {token}) {{ productId }} }}")
    assert code(response) == "LIMIT_EXCEEDED"
    assert "more than 16384 bytes" in response.json()["errors"][0]["message"]
    assert api.memory.sent == []


async def test_a_token_may_be_as_large_as_the_limit(api: MemoryEndpoint) -> None:
    comment = "# " + "x" * 16_382
    assert (await api.ask(f"{comment}\n{KNOWN}"))["product"]


async def test_a_large_value_may_still_be_a_variable(api: MemoryEndpoint) -> None:
    query = "query ($id: ID!) { product(productId: $id) { productId } }"
    response = await api.post(query, {"id": "x" * 100_000})
    assert code(response) != "LIMIT_EXCEEDED"


def slow(number: int) -> str:
    """Refused, so never remembered; and within every limit of its text, so it is parsed to its end."""
    return f"query Slow{number} {{ product(productId: 1) {{ {'a ' * 2_500} }} }}"


@pytest.fixture
def patient() -> MemoryEndpoint:
    """Time is not the subject."""
    return MemoryEndpoint(limits=EndpointLimits(seconds=600))


class Flood:
    """Slow documents of one tenant, all at once."""

    def __init__(self, api: MemoryEndpoint, documents: int) -> None:
        self.size = documents
        self.answered = 0
        self.tasks = [asyncio.ensure_future(self._send(api, number)) for number in range(documents)]

    async def _send(self, api: MemoryEndpoint, number: int) -> None:
        said = code(await api.post(slow(number), token="acme/viewer"))
        # parsed to its end, or asked to come later because it could not be in time
        assert said in {"LIMIT_EXCEEDED", "THROTTLED"}
        self.answered += said == "LIMIT_EXCEEDED"


async def flooded(api: MemoryEndpoint, query: str) -> tuple[Flood, Any]:
    flood = Flood(api, 30)
    await asyncio.sleep(0)
    data = await api.ask(query, token="globex/viewer")
    return flood, data


@pytest.mark.slow
async def test_a_flood_of_slow_documents_does_not_delay_another_tenants_known_document(patient: MemoryEndpoint) -> None:
    await patient.ask(KNOWN, token="globex/viewer")
    flood, data = await flooded(patient, KNOWN)
    answered = flood.answered
    await asyncio.gather(*flood.tasks)
    assert data["product"]["productId"] == "p-1001"
    assert answered < flood.size / 2


async def test_another_tenants_new_document_has_its_turn_between_those_of_a_flood(patient: MemoryEndpoint) -> None:
    flood, data = await flooded(patient, KNOWN)
    answered = flood.answered
    await asyncio.gather(*flood.tasks)
    assert data["product"]["productId"] == "p-1001"
    assert answered < flood.size / 2


@pytest.mark.slow
async def test_what_waits_to_be_parsed_is_bounded(patient: MemoryEndpoint) -> None:
    """What cannot be parsed in time is asked to come later, and nobody's place is lost."""
    posts = [patient.post(padded(100 + number, "{ nothing }")) for number in range(1_020)]
    codes = [code(response) for response in await asyncio.gather(*posts)]
    assert set(codes) == {"GRAPHQL_VALIDATION_FAILED", "THROTTLED"}
    assert patient.endpoint.preparing.running == patient.endpoint.preparing.waiting == 0
    assert code(await patient.post("{ nothing }")) == "GRAPHQL_VALIDATION_FAILED"


HUGE = "9" * 4_301
LITERALS = [
    f"{{ product(productId: {HUGE}) {{ productId }} }}",
    f'{{ orders(userId: "u-1001", first: {HUGE}) {{ nodes {{ orderId }} }} }}',
    f'{{ user(userId: "u-1001") {{ orders(first: -{HUGE}) {{ nodes {{ orderId }} }} }} }}',
    f"query ($n: Int = {HUGE}) {{ activeOrders(first: $n) {{ nodes {{ orderId }} }} }}",
    f"query ($n: ID = {HUGE}) {{ product(productId: $n) {{ productId }} }}",
    f"{{ products(productIds: [{HUGE}]) {{ productId }} }}",
    f"{{ product(productId: {{ a: [{HUGE}] }}) {{ productId }} }}",
    f'{{ product(productId: "p-1001") {{ productId @include(if: {HUGE}) }} }}',
    f"{{ nothing(at: {HUGE}) }}",
    f'mutation {{ createProduct(input: {{ productId: "p", title: "t", price: {HUGE} }}) {{ errors {{ code }} }} }}',
]


@pytest.mark.parametrize("query", LITERALS)
async def test_an_integer_with_too_many_digits_is_the_callers_mistake(api: MemoryEndpoint, query: str) -> None:
    response = await api.post(query, token="acme/editor")
    assert code(response) == "BAD_USER_INPUT"
    assert "digits" in response.json()["errors"][0]["message"]
    assert api.memory.sent == []


@pytest.mark.parametrize("number", [HUGE, f"-{HUGE}", f"{HUGE}.5", "1e400"])
async def test_a_number_of_the_variables_with_too_many_digits_is_bad_input_too(
    api: MemoryEndpoint, number: str
) -> None:
    query = "query ($n: Int) { activeOrders(first: $n) { nodes { orderId } } }"
    body = f'{{"query": "{query}", "variables": {{"n": {number}}}}}'
    headers = {"Authorization": "acme/editor", "Content-Type": "application/json"}
    posted = await api.client.post("/graphql", content=body.encode(), headers=headers)
    params = {"query": query, "variables": f'{{"n": {number}}}'}
    for response in (posted, await api.client.get("/graphql", params=params, headers=headers)):
        assert (response.status_code, code(response)) == (400, "BAD_USER_INPUT")
        assert "a number that is too large, at line 1 column " in response.json()["errors"][0]["message"]


async def test_an_integer_with_many_digits_is_no_fault_of_ours_either(api: MemoryEndpoint) -> None:
    for query in LITERALS:
        response = await api.post(query.replace(HUGE, "9" * 400), token="acme/editor")
        assert {error["extensions"]["code"] for error in response.json().get("errors", [])} <= {
            "BAD_USER_INPUT",
            "GRAPHQL_VALIDATION_FAILED",
            "LIMIT_EXCEEDED",
        }
