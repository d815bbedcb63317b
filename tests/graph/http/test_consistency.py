"""Read your own writes: in any process, while replicas and indexes lag, with the token of a change."""

from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.graph.query.lane.lane import Lanes
from gateway.store.consistency_token import TOKEN_SECONDS
from gateway.testing.services import settings, token
from tests.fixtures import MemoryGateway, demo_rows, post
from tests.store.fixtures import TABLE
from tests.store.lagging_memory import LaggingMemory

CREATE = """mutation { createProduct(input: {productId: "p-new", title: "New", price: "1.50", currency: "EUR",
  categoryId: "tools", supplierId: "s-1"}) { product { productId } errors { message } } }"""
RENAME = """mutation { updateProduct(input: {productId: "p-1001", title: "Renamed"}) {
  product { title } errors { message } } }"""
REMOVE = 'mutation { removeProduct(input: {productId: "p-1001"}) { errors { message } } }'
ITEM = 'query ($id: ID!) { product(productId: $id) { title } products(productIds: [$id, "p-1002"]) { title } }'
BY_CATEGORY = "query ($c: ID!, $n: Int) { productsByCategory(categoryId: $c, first: $n) { nodes { productId title } } }"
BY_SUPPLIER = "query ($s: ID!) { productsBySupplier(supplierId: $s) { nodes { productId } } }"
Send = dict[str, str]


class Shop:
    """Two processes of the gateway over one table."""

    def __init__(self, cache: str = "off") -> None:
        self.memory = LaggingMemory(MODEL.table, TABLE)
        self.one, self.other = (MemoryGateway(settings(cache=cache), self.memory) for _ in range(2))

    def open(self) -> "Shop":
        """With the rows of the demo, and replicas that stay as they are."""
        self.memory.rows = dict(demo_rows())
        self.memory.fall_behind()
        return self

    async def answer(
        self, query: str, variables: Any = None, sent: str | None = None, *, who: str = "", at: Any = None, **more: Any
    ) -> tuple[dict[str, Any], str | None]:
        """The answer and its token; by default from the other process."""
        headers = {} if sent is None else {"x-consistency-token": sent}
        self.memory.sent.clear()
        client = (at or self.other).client
        response = await post(client, query, variables, who or token("acme", "admin"), headers, **more)
        return response.json(), response.headers.get("x-consistency-token")

    async def change(self, query: str, sent: str | None = None) -> str:
        answer, made = await self.answer(query, None, sent, at=self.one)
        [payload] = answer["data"].values()
        assert payload["errors"] == []
        assert made is not None
        assert answer["extensions"]["consistency"] == {"token": made}
        return made


@pytest.fixture(scope="module")
def uncached() -> Shop:
    return Shop()


@pytest.fixture
def shop(uncached: Shop) -> Shop:
    return uncached.open()


async def test_an_item_is_seen_by_its_key(shop: Shop) -> None:
    made = await shop.change(RENAME)
    stale, _ = await shop.answer(ITEM, {"id": "p-1001"})
    seen, _ = await shop.answer(ITEM, {"id": "p-1001"}, made)
    assert stale["data"]["product"]["title"] != "Renamed"
    assert seen["data"]["product"] == seen["data"]["products"][0] == {"title": "Renamed"}
    assert "extensions" not in seen


async def test_a_new_item_and_a_removed_one_are_seen_in_the_list_of_an_index(shop: Shop) -> None:
    before, _ = await shop.answer(BY_CATEGORY, {"c": "tools"})
    known = [node["productId"] for node in before["data"]["productsByCategory"]["nodes"]]
    assert "p-1001" in known
    made = await shop.change(CREATE)
    made = await shop.change(RENAME, made)
    seen, _ = await shop.answer(BY_CATEGORY, {"c": "tools"}, made)
    nodes = {node["productId"]: node["title"] for node in seen["data"]["productsByCategory"]["nodes"]}
    assert set(nodes) == {*known, "p-new"}
    assert nodes["p-1001"] == "Renamed"
    # one Query and one BatchGetItem of what was written, in the reference as in a lane that steps back
    assert sorted(operation for operation, _ in shop.memory.sent) == ["BatchGetItem", "Query"]
    first, _ = await shop.answer(BY_CATEGORY, {"c": "tools", "n": 1}, made)
    assert len(first["data"]["productsByCategory"]["nodes"]) == 1


async def test_what_moves_leaves_its_old_list(shop: Shop) -> None:
    made = await shop.change(RENAME.replace("title:", 'categoryId: "garden", title:'))
    for where, shown in (("tools", False), ("garden", True)):
        stale, _ = await shop.answer(BY_CATEGORY, {"c": where})
        seen, _ = await shop.answer(BY_CATEGORY, {"c": where}, made)
        for answer, expected in ((stale, not shown), (seen, shown)):
            ids = [node["productId"] for node in answer["data"]["productsByCategory"]["nodes"]]
            assert ("p-1001" in ids) is expected


async def test_a_list_may_say_that_it_lags(shop: Shop) -> None:
    made = await shop.change(CREATE)
    seen, _ = await shop.answer(BY_SUPPLIER, {"s": "s-1"}, made)
    assert seen["extensions"]["consistency"] == {"mayLag": ["productsBySupplier"]}
    untouched, _ = await shop.answer(BY_SUPPLIER, {"s": "s-2"}, made)
    assert "extensions" not in untouched


async def test_other_reads_of_the_request_stay_eventual_and_in_their_lane(shop: Shop) -> None:
    made = await shop.change(RENAME)
    lanes: Lanes = shop.other.app._graphql.lanes  # type: ignore[attr-defined]
    query = '{ user(userId: "u-1001") { name } }'
    for _ in range(4):
        await shop.answer(query, None, made)
        assert [body["ConsistentRead"] for _, body in shop.memory.sent] == [False]
    assert lanes.outcomes.counts["lane"] > 0


async def test_a_filtered_list_of_an_index_says_so(shop: Shop) -> None:
    query = '{ allProducts(first: 50, filter: {title: {contains: "e"}}) { nodes { productId title } } }'
    for change in (CREATE, RENAME):
        seen, _ = await shop.answer(query, None, await shop.change(change))
        assert seen["extensions"]["consistency"] == {"mayLag": ["allProducts"]}
    before, _ = await shop.answer(query)
    assert "extensions" not in before


async def test_a_list_of_all_shards_shows_the_change(shop: Shop) -> None:
    made = await shop.change(CREATE)
    seen, _ = await shop.answer("{ allProducts(first: 2) { nodes { productId } } }", None, made)
    assert seen["data"]["allProducts"]["nodes"][0] == {"productId": "p-new"}
    assert sorted(operation for operation, _ in shop.memory.sent) == ["GetItem", *["Query"] * 4]


async def test_a_lane_steps_back_and_the_answer_stays_the_same(shop: Shop) -> None:
    made = await shop.change(CREATE, await shop.change(RENAME))
    lanes: Lanes = shop.other.app._graphql.lanes  # type: ignore[attr-defined]
    before = lanes.outcomes.counts["own_write"]
    for query, given in (
        (ITEM, {"id": "p-1001"}),
        (BY_CATEGORY, {"c": "tools"}),
        (BY_CATEGORY, {"c": "tools", "n": 2}),
    ):
        answers = [await shop.answer(query, given, made) for _ in range(4)]
        assert answers == answers[:1] * 4
    assert lanes.outcomes.counts["own_write"] > before


async def test_the_token_is_also_taken_from_the_extensions_of_a_request(shop: Shop) -> None:
    made = await shop.change(RENAME)
    seen, _ = await shop.answer(ITEM, {"id": "p-1001"}, extensions={"consistency": {"token": made}})
    assert seen["data"]["product"]["title"] == "Renamed"
    wrong, _ = await shop.answer(ITEM, {"id": "p-1001"}, extensions={"consistency": {"token": 7}})
    assert wrong["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"


async def test_one_token_holds_the_changes_before_it(shop: Shop) -> None:
    made = await shop.change(CREATE, await shop.change(RENAME))
    for item, title in (("p-1001", "Renamed"), ("p-new", "New")):
        seen, _ = await shop.answer(ITEM, {"id": item}, made)
        assert seen["data"]["product"]["title"] == title


@pytest.mark.parametrize("who", [("globex", "admin", None), ("acme", "admin", "mallory")], ids=["tenant", "subject"])
async def test_a_token_is_worth_nothing_to_anybody_else(shop: Shop, who: tuple[str, str, str | None]) -> None:
    made = await shop.change(RENAME)
    answer, _ = await shop.answer(ITEM, {"id": "p-1001"}, made, who=token(*who))
    [error] = answer["errors"]
    assert error["extensions"]["code"] == "BAD_USER_INPUT"
    assert error["message"] == "the consistency token is damaged or not yours; leave it out"
    assert shop.memory.sent == []


def _changed(made: str) -> str:
    return made[:9] + ("A" if made[9] != "A" else "B") + made[10:]


@pytest.mark.parametrize("damage", [lambda made: made[:-1], _changed, lambda made: "x" * 5_000])
async def test_a_damaged_token_is_refused(shop: Shop, damage: Any) -> None:
    answer, _ = await shop.answer(ITEM, {"id": "p-1001"}, damage(await shop.change(RENAME)))
    assert answer["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"
    assert shop.memory.sent == []


async def test_an_old_token_is_read_and_changes_nothing(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.store.access.time", lambda: 1_000_000.0)
    made = await shop.change(RENAME)
    monkeypatch.setattr(shop.other.app._graphql.tokens, "_clock", lambda: 1_000_001.0 + TOKEN_SECONDS)  # type: ignore[attr-defined]
    answer, _ = await shop.answer(ITEM, {"id": "p-1001"}, made)
    assert answer["data"]["product"]["title"] != "Renamed"


async def test_a_query_and_a_refused_change_have_no_token(shop: Shop) -> None:
    for query in ('{ user(userId: "u-1001") { name } }', REMOVE.replace("p-1001", "nobody")):
        answer, made = await shop.answer(query)
        assert made is None
        assert "extensions" not in answer


async def test_a_change_sees_itself_in_its_own_answer(shop: Shop) -> None:
    place = RENAME.replace("product { title }", "product { category { products { nodes { productId title } } } }")
    answer, _ = await shop.answer(place, at=shop.one)
    nodes = answer["data"]["updateProduct"]["product"]["category"]["products"]["nodes"]
    assert {"productId": "p-1001", "title": "Renamed"} in nodes


async def test_the_cache_of_another_process_does_not_hide_a_change() -> None:
    shop = Shop("ttl").open()
    for _ in range(2):
        await shop.answer(ITEM, {"id": "p-1001"})
        await shop.answer(BY_CATEGORY, {"c": "tools"})
    assert shop.memory.sent == []
    made = await shop.change(RENAME)
    item, _ = await shop.answer(ITEM, {"id": "p-1001"}, made)
    listed, _ = await shop.answer(BY_CATEGORY, {"c": "tools"}, made)
    assert item["data"]["product"]["title"] == "Renamed"
    assert "Renamed" in [node["title"] for node in listed["data"]["productsByCategory"]["nodes"]]
