"""The walk of a request: every wrong one gets the right status, a clear JSON error and does no harm."""

import asyncio
import json
import logging
from typing import Any

import orjson
import pytest
from httpx2 import Response
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import Internal, NotFound, TenantSuspended, Unavailable
from gateway.graph.http.endpoint import EndpointLimits
from gateway.graph.http.persisted import Persisted
from gateway.graph.http.request import GRAPHQL_JSON, JSON, strict_json
from gateway.graph.query.limits import DocumentLimits
from gateway.graph.query.operation import SHARED_FROM, Documents, ParsedDocument
from gateway.store.plan import ReadLimits
from tests.graph.fixtures import MemoryEndpoint, principal_of

TOKEN = {"Authorization": "Bearer acme/viewer"}
HELLO = '{ product(productId: "p-1001") { productId } }'


def code(response: Response) -> str:
    error = response.json()["errors"][0]
    assert error["extensions"]["requestId"] == response.headers["x-request-id"]
    found: str = error["extensions"]["code"]
    return found


async def test_without_a_token_nothing_is_read(api: MemoryEndpoint) -> None:
    response = await api.client.post("/graphql", json={"query": HELLO})
    assert (response.status_code, code(response)) == (401, "UNAUTHENTICATED")
    assert response.headers["www-authenticate"] == "Bearer"
    assert api.memory.sent == []


class Recorded:
    """A request made by hand: what it was asked for, and what was sent back."""

    def __init__(self, headers: list[tuple[bytes, bytes]], *messages: dict[str, Any], method: str = "POST") -> None:
        self.scope: dict[str, Any] = {
            "type": "http", "method": method, "path": "/graphql", "query_string": b"", "headers": headers,
        }  # fmt: skip
        self.messages = list(messages)
        self.sent: list[Any] = []

    async def receive(self) -> dict[str, Any]:
        return self.messages.pop(0)

    async def send(self, message: Any) -> None:
        self.sent.append(message)

    async def response(self, api: MemoryEndpoint) -> Any:
        await api.endpoint(self.scope, self.receive, self.send)
        return orjson.loads(self.sent[1]["body"])


BODY_MESSAGE = {"type": "http.request", "body": orjson.dumps({"query": HELLO}), "more_body": False}
HEADERS = [(b"authorization", b"Bearer acme/viewer"), (b"content-type", b"application/json")]


@pytest.mark.parametrize("headers", [[], [(b"content-type", b"application/json")], HEADERS[:1] * 2])
async def test_the_token_is_verified_before_a_byte_of_the_body_is_read(
    api: MemoryEndpoint, headers: list[tuple[bytes, bytes]]
) -> None:
    """INVARIANT: the token is verified before a byte of the body is read, and nothing after this sees it."""
    request = Recorded(headers, BODY_MESSAGE)
    assert (await request.response(api))["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"
    assert request.messages == [BODY_MESSAGE]


async def test_an_answer_is_one_head_and_one_body(api: MemoryEndpoint) -> None:
    request = Recorded(HEADERS, BODY_MESSAGE)
    assert await request.response(api) == {"data": {"product": {"productId": "p-1001"}}}
    start, body = request.sent
    assert (start["type"], type(start["status"]), start["status"]) == ("http.response.start", int, 200)
    assert body["type"] == "http.response.body"
    assert not body.get("more_body")
    headers = dict(start["headers"])
    assert len(headers) == len(start["headers"])
    assert headers[b"content-length"] == b"%d" % len(body["body"])
    assert headers[b"cache-control"] == b"no-store"


@pytest.mark.parametrize(
    ("messages", "status"),
    [
        ([{"type": "http.disconnect"}], 499),
        ([{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}], 499),
        ([{"type": "http.request", "body": b'{"query":', "more_body": True},
          {"type": "http.request", "body": b'"{__typename}"}'}], 200),
        ([{"type": "http.request"}], 400),
    ],
)  # fmt: skip
async def test_a_body_comes_in_pieces_or_not_at_all(api: MemoryEndpoint, messages: list[Any], status: int) -> None:
    request = Recorded(HEADERS, *messages)
    await request.response(api)
    assert request.sent[0]["status"] == status


@pytest.mark.parametrize("declared", [b"1000001", b"9" * 5_000])
async def test_a_body_that_is_declared_too_long_is_not_read(api: MemoryEndpoint, declared: bytes) -> None:
    request = Recorded([*HEADERS, (b"content-length", declared)], BODY_MESSAGE)
    assert (await request.response(api))["errors"][0]["extensions"]["code"] == "LIMIT_EXCEEDED"
    assert request.messages == [BODY_MESSAGE]


async def test_a_client_that_has_a_good_token_and_no_session_is_named_in_the_log(
    api: MemoryEndpoint, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def suspended(authorization: bytes | None, identified: Any) -> Any:
        identified(principal_of(authorization))
        raise TenantSuspended("the tenant is suspended")

    monkeypatch.setattr(api.endpoint.callers, "open", suspended)
    with caplog.at_level(logging.INFO, "gateway.operation"):
        assert (await api.post(HELLO)).status_code == 403
    [record] = [record for record in caplog.records if record.name == "gateway.operation"]
    fields = record.fields  # type: ignore[attr-defined]  # written by the log
    assert (fields["tenant"], fields["role"], len(fields["subject"])) == ("acme", None, 16)


async def test_two_tokens_are_one_too_many(api: MemoryEndpoint) -> None:
    headers = [("Authorization", "Bearer acme/viewer"), ("Authorization", "Bearer globex/viewer")]
    response = await api.client.post("/graphql", json={"query": HELLO}, headers=headers)
    assert (response.status_code, code(response)) == (401, "UNAUTHENTICATED")


@pytest.mark.parametrize(
    ("content", "content_type", "status"),
    [
        (b"{", JSON, 400),
        (b"[]", JSON, 400),
        (b'"text"', JSON, 400),
        (b"{}", JSON, 400),
        (b'{"query": 7}', JSON, 400),
        (b'{"query": ""}', JSON, 400),
        (b'{"query": "{ a }", "variables": []}', JSON, 400),
        (b'{"query": "{ a }", "variables": "x"}', JSON, 400),
        (b'{"query": "{ a }", "operationName": 1}', JSON, 400),
        (b'{"query": "{ a }", "extensions": 1}', JSON, 400),
        (b'[{"query": "{ a }"}]', JSON, 400),
        (b'{"query": "\xff"}', JSON, 400),
        (b'{"query": "{ a }"}', "text/plain", 415),
        (b'{"query": "{ a }"}', "application/jsonx", 415),
        (b'{"query": "{ a }"}', "application/json; charset=latin-1", 415),
        (b'{"query": "{ a }"}', "application/json; charset=utf-8; charset=utf-16", 415),
        (b'{"query": "{ a }"}', "application/json, text/plain", 415),
        (b"query=x", "application/x-www-form-urlencoded", 415),
        (b'{"query": "{ a }"}', "", 415),
    ],
)
async def test_a_malformed_request_is_refused(
    api: MemoryEndpoint, content: bytes, content_type: str, status: int
) -> None:
    headers = {**TOKEN, "Content-Type": content_type} if content_type else TOKEN
    response = await api.client.post("/graphql", content=content, headers=headers)
    assert (response.status_code, code(response)) == (status, "BAD_REQUEST")


async def test_invalid_json_is_reported_with_its_position(api: MemoryEndpoint) -> None:
    headers = {**TOKEN, "Content-Type": JSON}
    response = await api.client.post("/graphql", content=b'{"query": "{ a }",}', headers=headers)
    message = response.json()["errors"][0]["message"]
    assert message.startswith("the body is not valid JSON: ")
    assert "line 1 column 18" in message


@pytest.mark.parametrize(
    "content",
    [
        b'{"query": "{ a }", "query": "{ b }"}',
        b'{"query": "{ a }", "variables": {"x": 1, "x": 1}}',
        b'{"query": "{ a }", "variables": {"x": [{"y": {}, "y": {}}]}}',
        b'{"query": "{ a }", "qu\\u0065ry": "{ b }"}',
        b'{"query": "{ a }", "variables": {"x": 1, "x": "\\u003a"}}',
        b'{"query": "{ a }", "variables": {"x": ":", "x": "\\u003A\\u003a"}}',
        b'{"query": "{ a }", "variables": {"x": "\\\\\\u003a", "x": "\\\\u003a"}}',
    ],
)
async def test_a_name_that_stands_twice_is_refused(api: MemoryEndpoint, content: bytes) -> None:
    response = await api.client.post("/graphql", content=content, headers={**TOKEN, "Content-Type": JSON})
    assert (response.status_code, code(response)) == (400, "BAD_REQUEST")
    assert "a name twice" in response.json()["errors"][0]["message"]


async def test_a_name_that_stands_twice_in_the_variables_of_a_get_is_refused(api: MemoryEndpoint) -> None:
    params = {"query": HELLO, "variables": '{"x": 1, "x": 2}'}
    response = await api.client.get("/graphql", params=params, headers=TOKEN)
    assert (response.status_code, code(response)) == (400, "BAD_REQUEST")


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"x":', b"}")])
async def test_a_body_that_is_nested_too_deeply_is_a_bad_request(
    api: MemoryEndpoint, opening: bytes, closing: bytes
) -> None:
    content = b'{"query": "{ a }", "variables": {"x": %b1%b}}' % (opening * 900, closing * 900)
    response = await api.client.post("/graphql", content=content, headers={**TOKEN, "Content-Type": JSON})
    assert (response.status_code, code(response)) == (400, "BAD_REQUEST")
    assert response.json()["errors"][0]["message"] == "the body is nested too deeply"


async def test_an_address_with_thousands_of_parameters_is_not_read(api: MemoryEndpoint) -> None:
    params = {"query": HELLO, **{f"p{number}": "1" for number in range(100)}}
    response = await api.client.get("/graphql", params=params, headers=TOKEN)
    assert (response.status_code, code(response)) == (400, "BAD_REQUEST")
    assert "more than 100 parameters" in response.json()["errors"][0]["message"]


async def test_an_accept_header_of_thousands_of_types_is_not_read(api: MemoryEndpoint) -> None:
    headers = {**TOKEN, "Accept": ",".join(["application/json;q=0.5"] * 100)}
    response = await api.client.get("/graphql", params={"query": HELLO}, headers=headers)
    assert (response.status_code, code(response)) == (400, "BAD_REQUEST")


@pytest.mark.parametrize("text", [":", "\\u003a", "\\u003A:", "\\\\u003a", "\\\\\\u003a", '\\":\\"', "\\\\\\\\u003a:"])
async def test_colons_in_texts_are_no_names(api: MemoryEndpoint, text: str) -> None:
    variables = f'{{"x": "{text}", "{text}": 1, "y": {{"x": 1}}}}'
    body = f'{{"query": {json.dumps(HELLO)}, "variables": {variables}}}'.encode()
    response = await api.client.post("/graphql", content=body, headers={**TOKEN, "Content-Type": JSON})
    assert response.json()["data"]["product"]


async def test_other_methods_are_refused_and_told_which_are_allowed(api: MemoryEndpoint) -> None:
    response = await api.client.put("/graphql", json={"query": HELLO}, headers=TOKEN)
    assert (response.status_code, response.headers["allow"]) == (405, "GET, POST")


@pytest.mark.parametrize("declared", [True, False])
async def test_a_body_of_2_mb_is_refused(api: MemoryEndpoint, declared: bool) -> None:
    body = json.dumps({"query": HELLO, "variables": {"x": "y" * 2_000_000}}).encode()

    async def stream() -> Any:
        for start in range(0, len(body), 65_536):
            yield body[start : start + 65_536]

    headers = {**TOKEN, "Content-Type": JSON}
    response = await api.client.post("/graphql", content=body if declared else stream(), headers=headers)
    assert (response.status_code, code(response)) == (413, "LIMIT_EXCEEDED")


async def test_get_asks_queries(api: MemoryEndpoint) -> None:
    params = {"query": "query A($id: ID!) { product(productId: $id) { title } }", "variables": '{"id": "p-1001"}'}
    response = await api.client.get("/graphql", params=params, headers=TOKEN)
    assert response.status_code == 200
    assert response.json()["data"]["product"]["title"]


@pytest.mark.parametrize(
    "params", ["query=%7B%20a%20%7D&variables=%7B", "query=a&query=b", "", "query=%7Ba%7D&variables=[]"]
)
async def test_get_with_wrong_parameters_is_refused(api: MemoryEndpoint, params: str) -> None:
    response = await api.client.get(f"/graphql?{params}", headers=TOKEN)
    assert (response.status_code, code(response)) == (400, "BAD_REQUEST")


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (None, JSON),
        ("*/*", JSON),
        ("application/*", JSON),
        (JSON, JSON),
        (GRAPHQL_JSON, GRAPHQL_JSON),
        (f"{GRAPHQL_JSON}, {JSON}", GRAPHQL_JSON),
        (f"{JSON}, {GRAPHQL_JSON}", JSON),
        (f"{JSON};q=0.5, {GRAPHQL_JSON}", GRAPHQL_JSON),
        (f"{GRAPHQL_JSON};q=0.5, {JSON};q=0.9", JSON),
        ("text/event-stream, application/json", JSON),
        (f"{JSON};q=0, */*", GRAPHQL_JSON),
        (f"{GRAPHQL_JSON};q=0, application/*;q=0.1", JSON),
        (f"*/*;q=0.1, {GRAPHQL_JSON};q=0.2", GRAPHQL_JSON),
        (f"{JSON}, */*", JSON),
        ("text/event-stream, */*;q=0.1", JSON),
    ],
)
async def test_the_answer_has_the_type_that_is_liked_best(
    api: MemoryEndpoint, accept: str | None, expected: str
) -> None:
    headers = TOKEN | ({"Accept": accept} if accept else {})
    response = await api.client.post("/graphql", json={"query": HELLO}, headers=headers)
    assert response.headers["content-type"] == f"{expected}; charset=utf-8"


@pytest.mark.parametrize(
    "accept",
    [
        "text/html",
        f"{JSON};q=0",
        f"{JSON};q=0, {GRAPHQL_JSON};q=0, */*",
        "text/event-stream;q=0",
        "text/event-streams",
        "text/*",
    ],
)
async def test_a_client_that_accepts_no_json_gets_none(api: MemoryEndpoint, accept: str) -> None:
    response = await api.client.post("/graphql", json={"query": HELLO}, headers={**TOKEN, "Accept": accept})
    assert response.status_code == 406


async def test_what_is_accepted_may_be_told_in_several_headers(api: MemoryEndpoint) -> None:
    headers = [*TOKEN.items(), ("Accept", "text/html"), ("Accept", GRAPHQL_JSON)]
    response = await api.client.post("/graphql", json={"query": HELLO}, headers=headers)
    assert response.headers["content-type"] == f"{GRAPHQL_JSON}; charset=utf-8"


@pytest.mark.parametrize(
    "content_type",
    ["application/json; charset=UTF-8; x=y", "application/json; x=y", 'APPLICATION/json;charset="utf-8"', f"{JSON};"],
)
async def test_parameters_of_the_content_type_other_than_the_charset_mean_nothing(
    api: MemoryEndpoint, content_type: str
) -> None:
    content = orjson.dumps({"query": HELLO})
    headers = {**TOKEN, "Content-Type": content_type}
    assert (await api.client.post("/graphql", content=content, headers=headers)).status_code == 200


async def test_an_empty_operation_name_is_none(api: MemoryEndpoint) -> None:
    for name in (None, ""):
        body = {"query": "query A { __typename }", "operationName": name}
        response = await api.client.post("/graphql", json=body, headers=TOKEN)
        assert response.json() == {"data": {"__typename": "Query"}}
        response = await api.client.get("/graphql", params={**body, "operationName": name or ""}, headers=TOKEN)
        assert response.json() == {"data": {"__typename": "Query"}}


@pytest.mark.parametrize(
    ("query", "variables", "expected"),
    [
        ("{", {}, "GRAPHQL_PARSE_FAILED"),
        ("{ nothing }", {}, "GRAPHQL_VALIDATION_FAILED"),
        ("query ($id: ID!) { product(productId: $id) { title } }", {}, "BAD_USER_INPUT"),
        ("query A { __typename } query B { __typename }", {}, "BAD_USER_INPUT"),
    ],
)
async def test_what_cannot_run_is_400_for_clients_of_the_new_type_and_200_for_old_ones(
    api: MemoryEndpoint, query: str, variables: dict[str, Any], expected: str
) -> None:
    for accept, status in ((JSON, 200), (GRAPHQL_JSON, 400)):
        response = await api.client.post(
            "/graphql", json={"query": query, "variables": variables}, headers={**TOKEN, "Accept": accept}
        )
        assert (response.status_code, code(response)) == (status, expected)
        assert "data" not in response.json()


@pytest.mark.parametrize(
    "query",
    [
        '{ user(userId: "a#b") { name } }',
        '{ user(userId: "") { name } }',
        '{ user(userId: "é") { name } }',
        "{ activeOrders(first: -1) { nodes { orderId } } }",
        "{ activeOrders(first: 101) { nodes { orderId } } }",
        "{ activeOrders(last: 100000) { nodes { orderId } } }",
        "{ activeOrders(first: 1, last: 1) { nodes { orderId } } }",
        '{ activeOrders(after: "forged") { nodes { orderId } } }',
        '{ activeOrders(placedAt: {from: "2026-02-01T00:00:00Z", to: "2026-01-01T00:00:00Z"}) { nodes { orderId } } }',
        '{ userByEmail(email: "a#b") { name } }',
        '{ productsByCategory(categoryId: "tools", price: {from: "-1"}) { nodes { title } } }',
        "{ users(userIds: [" + '"u",' * 101 + "]) { name } }",
        "{ nodes(ids: [" + '"u",' * 101 + "]) { id } }",
    ],
)
async def test_wrong_arguments_are_bad_user_input_and_read_nothing(api: MemoryEndpoint, query: str) -> None:
    response = await api.post(query)
    assert response.status_code == 200
    assert code(response) == "BAD_USER_INPUT"
    assert api.memory.sent == []


@pytest.mark.parametrize(
    "query",
    [
        '{ activeOrders(placedAt: {from: "2026-02-01"}) { nodes { orderId } } }',
        '{ activeOrders(placedAt: {from: "yesterday"}) { nodes { orderId } } }',
        "{ activeOrders(first: 3000000000) { nodes { orderId } } }",
        '{ productsByCategory(categoryId: "tools", price: {from: 1.5}) { nodes { title } } }',
        "{ ordersByStatus(status: GONE) { nodes { orderId } } }",
    ],
)
async def test_wrong_literals_do_not_pass_validation(api: MemoryEndpoint, query: str) -> None:
    assert code(await api.post(query)) in {"GRAPHQL_VALIDATION_FAILED", "BAD_USER_INPUT"}
    assert api.memory.sent == []


async def test_a_cursor_of_another_field_or_tenant_is_refused(api: MemoryEndpoint) -> None:
    page = "{ pageInfo { endCursor } }"
    cursor = (await api.ask(f"{{ activeOrders(first: 1) {page} }}"))["activeOrders"]["pageInfo"]["endCursor"]
    elsewhere = "query ($after: String) { reviewQueue(after: $after) { nodes { orderId } } }"
    assert code(await api.post(elsewhere, {"after": cursor})) == "BAD_USER_INPUT"
    same = "query ($after: String) { activeOrders(after: $after) { nodes { orderId } } }"
    assert code(await api.post(same, {"after": cursor}, token="globex/viewer")) == "BAD_USER_INPUT"
    await api.ask(same, {"after": cursor})


@pytest.mark.parametrize(
    "query",
    [
        "{ " + " ".join(f'a{n}: product(productId: "p") {{ title }}' for n in range(500)) + " }",
        "{ " + " ".join("__typename @skip(if: false)" for _ in range(200)) + " }",
        '{ user(userId: "u") ' + "{ orders { nodes { user " * 4 + "{ name }" + "} } }" * 4 + " }",
        "{" * 3_000,
        "{ " + "a " * 6_000 + "}",
        "query { ...F0 } "
        + " ".join(f"fragment F{n} on Query {{ ...F{n + 1} ...F{n + 1} }}" for n in range(40))
        + " fragment F40 on Query { __typename }",
    ],
    ids=["500 aliases", "200 directives", "deep", "3,000 brackets", "6,000 tokens", "fragment bomb"],
)
async def test_too_much_is_refused_before_it_runs(api: MemoryEndpoint, query: str) -> None:
    response = await api.post(query)
    assert code(response) in {"LIMIT_EXCEEDED", "GRAPHQL_PARSE_FAILED"}
    assert api.memory.sent == []


async def test_a_list_in_a_list_is_bounded() -> None:
    api = MemoryEndpoint(reads=ReadLimits(queries=3))
    response = await api.post("{ categories { nodes { products(first: 1) { nodes { title } } } } }")
    assert code(response) == "LIMIT_EXCEEDED"


async def test_introspection_and_suggestions_are_off_by_setting() -> None:
    api = MemoryEndpoint(introspection=False)
    response = await api.post("{ __schema { types { name } } }")
    assert code(response) == "GRAPHQL_VALIDATION_FAILED"
    assert "Did you mean" not in (await api.post("{ prodct(productId: 1) { title } }")).text
    assert "Did you mean" in (await MemoryEndpoint().post("{ prodct(productId: 1) { title } }")).text


async def test_an_unknown_failure_is_masked_and_logged(api: MemoryEndpoint, caplog: pytest.LogCaptureFixture) -> None:
    for failure in (Internal("secret detail"), ZeroDivisionError("secret detail")):
        api.memory.script["GetItem"].append(failure)
        response = await api.post(HELLO)
        assert code(response) == "INTERNAL"
        assert "secret" not in response.text
        assert any("secret detail" in str(record.exc_info) for record in caplog.records)


@pytest.mark.parametrize(
    ("error", "status", "code_told"),
    [
        (RuntimeError("secret"), 500, "INTERNAL"),
        (Internal("secret"), 500, "INTERNAL"),
        (NotFound("gone"), 400, "NOT_FOUND"),
    ],
)
async def test_a_failure_before_anything_runs_is_an_answer_too(
    api: MemoryEndpoint, error: Exception, status: int, code_told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> Any:
        raise error

    monkeypatch.setattr(api.endpoint.callers, "open", broken)
    response = await api.post(HELLO)
    assert (response.status_code, code(response)) == (status, code_told)
    assert "secret" not in response.text
    assert response.headers["x-request-id"] == response.json()["errors"][0]["extensions"]["requestId"]


async def test_a_known_failure_of_a_field_leaves_the_rest(api: MemoryEndpoint) -> None:
    api.memory.script["GetItem"].append(Unavailable("aws is not reachable"))
    response = await api.post('{ product(productId: "p-1001") { title } categories(first: 1) { nodes { title } } }')
    content = response.json()
    assert content["data"]["product"] is None
    assert content["data"]["categories"]["nodes"]
    assert content["errors"][0]["extensions"]["code"] == "UNAVAILABLE"
    assert content["errors"][0]["path"] == ["product"]


async def test_an_operation_that_takes_too_long_is_cancelled() -> None:
    api = MemoryEndpoint(limits=EndpointLimits(seconds=0.5))
    ended = asyncio.Event()

    async def slow(*_: Any, **__: Any) -> Any:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    api.memory.call = slow  # type: ignore[method-assign]
    response = await api.post(HELLO)
    assert (response.status_code, code(response)) == (504, "TIMEOUT")
    await asyncio.wait_for(ended.wait(), 60)


async def test_request_and_trace_ids_are_taken_over_only_when_well_formed(api: MemoryEndpoint) -> None:
    good = await api.client.post("/graphql", json={"query": HELLO}, headers={**TOKEN, "X-Request-Id": "abc-1"})
    assert good.headers["x-request-id"] == "abc-1"
    bad = await api.client.post("/graphql", json={"query": HELLO}, headers={**TOKEN, "X-Request-Id": 'a" injected'})
    assert "injected" not in bad.headers["x-request-id"]


async def test_an_operation_is_one_log_line(api: MemoryEndpoint, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "gateway.operation")
    headers = {**TOKEN, "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}
    body = {"query": 'query Named { product(productId: "p-1001") { title } }'}
    response = await api.client.post("/graphql", json=body, headers=headers)
    [record] = [record for record in caplog.records if record.name == "gateway.operation"]
    fields = record.fields  # type: ignore[attr-defined]
    assert fields["trace_id"] == "4bf92f3577b34da6a3ce929d0e0e4736"
    assert fields["request_id"] == response.headers["x-request-id"]
    assert (fields["tenant"], fields["role"], fields["operation"]) == ("acme", "viewer", "Named")
    assert (fields["dynamodb_calls"], fields["status"], fields["codes"]) == (1, 200, [])
    assert fields["consumed_capacity"] > 0
    assert fields["subject"] != "ada"
    assert len(fields["document"]) == 64


async def test_a_line_does_not_hold_a_name_of_any_length(api: MemoryEndpoint, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "gateway.operation"):
        await api.ask("query " + "N" * 10_000 + " { __typename }")
    (record,) = [record for record in caplog.records if record.name == "gateway.operation"]
    assert record.fields["operation"] == "N" * 100  # type: ignore[attr-defined]  # written by the journal


async def test_a_document_is_prepared_once(api: MemoryEndpoint) -> None:
    await api.post(HELLO)
    documents = api.endpoint.documents
    assert documents.get(HELLO) is documents.get(HELLO)


@pytest.mark.parametrize(
    ("text", "shared"),
    [
        ("query($id: ID!) { product(productId: $id) { title } }", True),
        ("{ allProducts(first: 100) { nodes { title } } }", True),
        ('{ product(productId: "p-1001") { title } }', False),
        ("{ product(productId: 1001) { title } }", False),
        ('query($id: ID = "p-1001") { product(productId: $id) { title } }', False),
        ('{ product(productId: """p-1001""") { title } }', False),
    ],
)
async def test_no_tenant_learns_by_time_which_data_another_has_asked_for(
    api: MemoryEndpoint, text: str, shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared = list[str]()
    prepare = Documents.prepare

    def counted(documents: Documents, text: str) -> ParsedDocument:
        prepared.append(text)
        return prepare(documents, text)

    monkeypatch.setattr(Documents, "prepare", counted)
    for _ in range(2):
        await api.post(text, {"id": "p-1001"}, token="acme/viewer")
    assert len(prepared) == 1
    await api.post(text, {"id": "p-1001"}, token="globex/viewer")
    assert len(prepared) == (1 if shared else 2)


async def test_a_document_that_many_tenants_send_is_shared_from_then_on(api: MemoryEndpoint) -> None:
    text, documents = '{ product(productId: "p-1001") { title } }', api.endpoint.documents
    for number in range(SHARED_FROM - 1):
        for _ in range(2):
            await api.post(text, token=f"t{number:03}/viewer")
    assert len(documents.recent) == SHARED_FROM - 1
    assert text not in documents.recent
    for number in range(100):
        await api.post(text, token=f"t{number:03}/viewer")
    assert len(documents.recent) == SHARED_FROM
    assert text in documents.recent


@pytest.mark.parametrize("tenant", ["acme", "mutation"])
async def test_no_document_of_a_tenant_is_found_by_another_text(api: MemoryEndpoint, tenant: str) -> None:
    text = '{ product(productId: "p-1001") { title } }'
    before = await api.post(f"{tenant} {text}", token="globex/viewer")
    await api.post(text, token=f"{tenant}/viewer")
    after = await api.post(f"{tenant} {text}", token="globex/viewer")
    assert code(before) == code(after)


async def test_all_tenants_share_a_trusted_document(monkeypatch: pytest.MonkeyPatch) -> None:
    text = '{ product(productId: "p-1001") { title } }'
    api = MemoryEndpoint(persisted=Persisted({"trusted": text}))
    for tenant in ("acme", "globex"):
        await api.post(text, token=f"{tenant}/viewer")
    assert [*api.endpoint.documents.recent] == [text]


async def test_document_limits_are_settings() -> None:
    api = MemoryEndpoint(document_limits=DocumentLimits(aliases=1))
    assert code(await api.post("{ a: __typename b: __typename }")) == "LIMIT_EXCEEDED"
    assert (await api.post("{ a: __typename }")).json() == {"data": {"a": "Query"}}


@given(st.dictionaries(st.text('\\":u003aA ', max_size=12), st.text('\\":u003aA ', max_size=12), max_size=4))
def test_colons_in_texts_are_not_taken_for_names(variables: dict[str, str]) -> None:
    body = {"query": "{ a }", "variables": variables}
    for raw in (orjson.dumps(body), _escaped_texts(body)):
        assert strict_json(raw, "the body") == body


def _escaped_texts(body: dict[str, Any]) -> bytes:
    """Every colon inside a text is escaped, which JSON allows."""

    def text(value: str) -> str:
        return json.dumps(value).replace(":", "\\u003A")

    members = ", ".join(f"{text(name)}: {text(value)}" for name, value in body["variables"].items())
    return f'{{"query": {text(body["query"])}, "variables": {{{members}}}}}'.encode()
