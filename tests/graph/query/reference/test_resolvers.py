"""The resolvers, through the reference executor alone: every kind of access pattern, relation and node."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.errors import Forbidden
from gateway.graph.query.reference.resolvers import attribute
from gateway.store.rows import Item
from tests.graph.fixtures import MemoryEndpoint, no_lanes


@pytest.fixture
def api(api: MemoryEndpoint) -> MemoryEndpoint:
    api.endpoint = replace(api.endpoint, lanes=no_lanes(api))
    return api


def resolved(source: Any, name: str) -> Any:
    return attribute(name)(source, None)


def test_a_field_without_arguments_reads_an_item_a_struct_or_an_object() -> None:
    item = Item("Thing", {"tags": frozenset({"b", "a"}), "size": 3}, "position")
    assert (resolved(item, "size"), resolved(item, "tags"), resolved(item, "absent")) == (3, ["a", "b"], None)
    assert (resolved({"city": "Ulm"}, "city"), resolved({}, "city")) == ("Ulm", None)
    assert resolved(item, "values") is None, "only attributes of the entity, not those of the class"


def test_a_refused_value_is_raised() -> None:
    item = Item("Thing", {"name": Forbidden("no"), "size": 3}, "")
    assert item["size"] == 3
    with pytest.raises(Forbidden):
        item["name"]


async def test_lookups(api: MemoryEndpoint) -> None:
    data = await api.ask(
        """{ one: product(productId: "p-1001") { productId } none: product(productId: "x") { productId }
             products(productIds: ["p-1002", "x", "p-1001"]) { productId } }"""
    )
    assert data == {
        "one": {"productId": "p-1001"},
        "none": None,
        "products": [{"productId": "p-1002"}, None, {"productId": "p-1001"}],
    }


@pytest.mark.parametrize(
    ("field", "name"),
    [("products(productIds: $ids) { title }", "productIds"), ("nodes(ids: $ids) { id }", "ids")],
)
async def test_a_list_of_ids_is_bounded(api: MemoryEndpoint, field: str, name: str) -> None:
    response = await api.post(f"query ($ids: [ID!]!) {{ {field} }}", {"ids": ["p-1001"] * 101})
    [error] = response.json()["errors"]
    assert error["message"] == f"`{name}` has 101 members, at most 100 are allowed"
    assert error["extensions"]["code"] == "BAD_USER_INPUT"


async def test_references_and_collections(api: MemoryEndpoint) -> None:
    data = await api.ask(
        """{ order(orderId: "o-1001") { orderId user { userId orders(first: 100) { nodes { orderId } } }
             lines { productId product { productId } } } }"""
    )
    order = data["order"]
    assert {"orderId": "o-1001"} in order["user"]["orders"]["nodes"]
    assert order["lines"]
    assert all(line["product"] == {"productId": line["productId"]} for line in order["lines"])


async def test_a_listing_of_one_follows_its_reference(api: MemoryEndpoint) -> None:
    user = (await api.ask('{ user(userId: "u-1001") { email } }'))["user"]
    query = "query ($email: String!) { userByEmail(email: $email) { userId } }"
    assert await api.ask(query, {"email": user["email"]}) == {"userByEmail": {"userId": "u-1001"}}
    assert await api.ask(query, {"email": "nobody@shop.example"}) == {"userByEmail": None}


async def test_a_total_sums_what_exists(api: MemoryEndpoint) -> None:
    post = (await api.ask("{ topPosts(first: 1) { nodes { postId } } }"))["topPosts"]["nodes"][0]
    query = "query ($postId: ID!) { post(postId: $postId) { likes } }"
    before = await api.ask(query, post)
    join = 'mutation { createReader(input: {userId: "new", nickname: "N"}) { errors { code } } }'
    assert await api.ask(join, token="acme/editor") == {"createReader": {"errors": []}}
    like = "mutation ($input: LikePostInput!) { likePost(input: $input) { errors { code } } }"
    assert await api.ask(like, {"input": {**post, "userId": "new"}}, token="acme/editor") == {
        "likePost": {"errors": []}
    }
    assert (await api.ask(query, post))["post"]["likes"] == before["post"]["likes"] + 1


async def test_nodes_lead_back_to_their_items(api: MemoryEndpoint) -> None:
    node = (await api.ask('{ product(productId: "p-1001") { id } }'))["product"]["id"]
    data = await api.ask(
        "query ($ids: [ID!]!, $id: ID!) { nodes(ids: $ids) { __typename id } node(id: $id) { id } }",
        {"ids": [node, "forged"], "id": node},
    )
    assert data == {"nodes": [{"__typename": "Product", "id": node}, None], "node": {"id": node}}
    foreign = await api.ask("query ($id: ID!) { node(id: $id) { id } }", {"id": node}, token="globex/viewer")
    assert foreign == {"node": None}
