"""Persisted documents: a hash is that of its text, a tenant's documents are its own, and trusted ones can be all."""

import hashlib
from typing import Any

import pytest

from gateway.errors import BadUserInput, UnknownDocument, UntrustedDocument
from gateway.graph.http.persisted import Persisted
from gateway.graph.http.request import GRAPHQL_JSON, JSON, GraphQLRequest
from gateway.model.tenant import tenant_id
from tests.graph.fixtures import MemoryEndpoint
from tests.graph.http.test_endpoint import HELLO, TOKEN, code

ACME, GLOBEX = tenant_id("acme"), tenant_id("globex")
DATA = {"data": {"product": {"productId": "p-1001"}}}
TRUSTED = "query Trusted($id: ID!) { product(productId: $id) { productId } }"


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def apq(text: str | None, given: str | None = None) -> dict[str, Any]:
    """What Apollo Client sends: a hash, and the text where the hash is not known yet."""
    extensions = {"persistedQuery": {"version": 1, "sha256Hash": given or sha256(text or "")}}
    return {"extensions": extensions} | ({} if text is None else {"query": text})


async def post_body(api: MemoryEndpoint, body: dict[str, Any], tenant: str = "acme", **headers: str) -> Any:
    return await api.client.post("/graphql", json=body, headers={"Authorization": f"Bearer {tenant}/viewer", **headers})


async def test_a_hash_is_asked_for_left_and_then_known(api: MemoryEndpoint) -> None:
    only_hash = apq(None, sha256(HELLO))
    first = await post_body(api, only_hash)
    assert code(first) == "PERSISTED_QUERY_NOT_FOUND"
    assert first.json()["errors"][0]["message"] == "PersistedQueryNotFound"
    assert (await post_body(api, apq(HELLO))).json() == DATA
    assert (await post_body(api, only_hash)).json() == DATA


async def test_what_is_not_found_is_an_answer_that_clients_read(api: MemoryEndpoint) -> None:
    for accept, status in ((JSON, 200), (GRAPHQL_JSON, 400)):
        response = await post_body(api, apq(None, "0" * 64), Accept=accept)
        assert (response.status_code, response.headers["content-type"]) == (status, f"{accept}; charset=utf-8")


async def test_a_known_hash_is_enough_for_get(api: MemoryEndpoint) -> None:
    await post_body(api, apq(HELLO))
    extensions = f'{{"persistedQuery": {{"version": 1, "sha256Hash": "{sha256(HELLO)}"}}}}'
    response = await api.client.get("/graphql", params={"extensions": extensions}, headers=TOKEN)
    assert response.json() == DATA


async def test_a_mutation_is_not_run_by_get_under_its_hash_either(api: MemoryEndpoint) -> None:
    mutation = 'mutation { removeProduct(input: {productId: "p-1001"}) { errors { code } } }'
    await post_body(api, apq(mutation))
    extensions = f'{{"persistedQuery": {{"version": 1, "sha256Hash": "{sha256(mutation)}"}}}}'
    response = await api.client.get("/graphql", params={"extensions": extensions}, headers=TOKEN)
    assert response.status_code == 405


async def test_a_document_is_kept_under_its_own_hash_and_no_other(api: MemoryEndpoint) -> None:
    victim = sha256(HELLO)
    response = await post_body(api, apq("{ __typename }", victim))
    assert (code(response), "is not the hash" in response.text) == ("BAD_USER_INPUT", True)
    assert code(await post_body(api, apq(None, victim))) == "PERSISTED_QUERY_NOT_FOUND"
    await post_body(api, apq(HELLO))
    assert code(await post_body(api, apq("{ __typename }", victim))) == "BAD_USER_INPUT"
    assert (await post_body(api, apq(None, victim))).json() == DATA


async def test_no_request_puts_a_document_under_the_hash_of_another(api: MemoryEndpoint) -> None:
    """Or a viewer's mutation would run when an admin asks for a query by its hash."""
    mutation = 'mutation { removeProduct(input: {productId: "p-1001"}) { errors { code } } }'
    await post_body(api, apq(mutation))
    named = {"documentId": sha256(mutation)}
    response = await post_body(api, {**apq(mutation, sha256(HELLO)), **named})
    assert (code(response), "is not the hash" in response.text) == ("BAD_USER_INPUT", True)
    assert code(await post_body(api, apq(None, sha256(HELLO)))) == "PERSISTED_QUERY_NOT_FOUND"


def test_a_document_is_kept_under_its_own_hash_whatever_was_sent() -> None:
    persisted, wrong = Persisted(), sha256(HELLO)
    persisted.keep(ACME, GraphQLRequest("{ __typename }", extensions=apq("", wrong)["extensions"]))
    with pytest.raises(UnknownDocument):
        persisted.text(ACME, GraphQLRequest(None, document_id=wrong))


def test_a_trusted_document_may_be_named_by_an_id_of_its_own() -> None:
    persisted = Persisted({"first": HELLO, "second": TRUSTED})
    extensions = apq(HELLO, "first")["extensions"]
    assert persisted.text(ACME, GraphQLRequest(HELLO, extensions=extensions)) == HELLO
    with pytest.raises(BadUserInput):
        persisted.text(ACME, GraphQLRequest(TRUSTED, extensions=extensions, document_id="second"))


async def test_a_tenant_does_not_find_what_another_left(api: MemoryEndpoint) -> None:
    await post_body(api, apq(HELLO))
    assert code(await post_body(api, apq(None, sha256(HELLO)), tenant="globex")) == "PERSISTED_QUERY_NOT_FOUND"


async def test_nothing_is_kept_of_what_cannot_run(api: MemoryEndpoint) -> None:
    for text in ("{ nothing }", "{", "{ " + " ".join(f"a{n}: __typename" for n in range(99)) + " }"):
        await post_body(api, apq(text))
        assert code(await post_body(api, apq(None, sha256(text)))) == "PERSISTED_QUERY_NOT_FOUND"


async def test_nothing_is_found_without_a_token(api: MemoryEndpoint) -> None:
    await post_body(api, apq(HELLO))
    response = await api.client.post("/graphql", json=apq(None, sha256(HELLO)))
    assert (response.status_code, code(response)) == (401, "UNAUTHENTICATED")


@pytest.mark.parametrize(
    "given", [7, "text", [], {}, {"version": 2, "sha256Hash": "a"}, {"version": 1}, {"version": 1, "sha256Hash": ""}]
)
async def test_a_malformed_extension_is_bad_input(api: MemoryEndpoint, given: Any) -> None:
    response = await post_body(api, {"query": HELLO, "extensions": {"persistedQuery": given}})
    assert code(response) == "BAD_USER_INPUT"


async def test_without_text_id_and_hash_the_query_is_missing(api: MemoryEndpoint) -> None:
    response = await post_body(api, {"extensions": {"persistedQuery": None}})
    assert (code(response), "`query` is missing" in response.text) == ("BAD_REQUEST", True)


def test_what_is_kept_is_bounded() -> None:
    persisted = Persisted(kept_bytes=50_000)
    texts = [f"{{ a{number}: __typename }}" for number in range(1_000)]
    for text in texts:
        persisted.keep(ACME, GraphQLRequest(text, extensions=apq(text)["extensions"]))
    found = [text for text in texts if _known(persisted, text)]
    assert texts[-1] in found
    assert texts[0] not in found
    assert len(found) < 200


def test_a_document_that_would_take_all_the_room_is_not_kept() -> None:
    persisted, text = Persisted(kept_bytes=50_000), "#" * 1_000
    persisted.keep(ACME, GraphQLRequest(text, extensions=apq(text)["extensions"]))
    assert not _known(persisted, text)


def _known(persisted: Persisted, text: str) -> bool:
    try:
        return persisted.text(ACME, GraphQLRequest(None, extensions=apq(None, sha256(text))["extensions"])) == text
    except UnknownDocument:
        return False


@pytest.mark.parametrize("only", [True, False])
@pytest.mark.parametrize("name", ["documentId", "id"])
@pytest.mark.parametrize("prefix", ["", "sha256:"])
async def test_a_trusted_document_runs_by_its_id(name: str, prefix: str, only: bool) -> None:
    api = MemoryEndpoint(persisted=Persisted({"abc": TRUSTED}, trusted_documents_only=only))
    body = {name: f"{prefix}abc", "variables": {"id": "p-1001"}}
    assert (await post_body(api, body)).json() == DATA
    assert (await post_body(api, {**apq(None, "abc"), "variables": {"id": "p-1001"}})).json() == DATA
    params = {name: f"{prefix}abc", "variables": '{"id": "p-1001"}'}
    assert (await api.client.get("/graphql", params=params, headers=TOKEN)).json() == DATA


async def test_where_only_trusted_documents_run_nothing_else_does() -> None:
    api = MemoryEndpoint(persisted=Persisted({"abc": TRUSTED}, trusted_documents_only=True))
    for body in ({"query": HELLO}, apq(HELLO), {"query": "{ __schema { types { name } } }"}, {"query": TRUSTED + " "}):
        assert code(await post_body(api, body)) == "UNTRUSTED_DOCUMENT"
    assert code(await post_body(api, {"documentId": "other"})) == "PERSISTED_QUERY_NOT_FOUND"
    assert code(await post_body(api, apq(None, sha256(HELLO)))) == "PERSISTED_QUERY_NOT_FOUND"
    assert api.memory.sent == []
    # the text itself may be sent in full: it is the same document
    assert (await post_body(api, {"query": TRUSTED, "variables": {"id": "p-1001"}})).json() == DATA


def test_an_id_with_another_text_is_refused() -> None:
    persisted = Persisted({"abc": TRUSTED})
    with pytest.raises(BadUserInput, match="another document"):
        persisted.text(ACME, GraphQLRequest(HELLO, document_id="abc"))
    assert persisted.text(ACME, GraphQLRequest(TRUSTED, document_id="abc")) == TRUSTED


def test_a_tools_own_hash_may_come_with_its_text() -> None:
    """Codegen may hash with SHA-1: its manifest says what the hash stands for."""
    persisted = Persisted({"abc": TRUSTED})
    request = GraphQLRequest(TRUSTED, extensions=apq(TRUSTED, "abc")["extensions"])
    assert persisted.text(ACME, request) == TRUSTED
    persisted.keep(ACME, request)
    assert persisted.text(GLOBEX, GraphQLRequest(None, document_id="abc")) == TRUSTED


def test_an_unknown_id_with_a_text_runs_the_text() -> None:
    assert Persisted().text(ACME, GraphQLRequest(HELLO, document_id="new")) == HELLO
    with pytest.raises(UntrustedDocument):
        Persisted({"abc": TRUSTED}, trusted_documents_only=True).text(ACME, GraphQLRequest(HELLO, document_id="new"))


@pytest.mark.parametrize("body", [{"documentId": 7}, {"id": []}, {"documentId": ""}, {"query": " \n"}])
async def test_what_names_no_document_is_no_request(api: MemoryEndpoint, body: dict[str, Any]) -> None:
    response = await post_body(api, body)
    assert (response.status_code, code(response)) == (400, "BAD_REQUEST")
