"""The gateway in memory that the tests share is the product: tokens are verified, tenants apart, roles enforced."""

import pytest

from tests.fixtures import MemoryGateway, post

ORDER = '{ user(userId: "u-1001") { name } }'
RENAME = """mutation { updateProduct(input: {productId: "p-1001", title: "Hammer"}) {
  product { title } errors { code } } }"""


async def test_it_answers_and_counts_its_calls(gateway: MemoryGateway) -> None:
    assert (await gateway.ask(ORDER))["user"]["name"]
    assert gateway.calls == ["GetItem"]
    [request] = gateway.sts.requests
    assert (request.session_name, dict(request.tags)["TenantId"]) == ("viewer@acme", "acme")


async def test_a_tenant_changes_its_own_rows_alone(gateway: MemoryGateway) -> None:
    changed = await gateway.ask(RENAME, token="acme/editor")
    assert changed["updateProduct"]["product"] == {"title": "Hammer"}
    other = await gateway.ask('{ product(productId: "p-1001") { title } }', token="globex/viewer")
    assert other["product"]["title"] != "Hammer"


@pytest.mark.parametrize("role", ["viewer", "support"])
async def test_a_role_that_may_not_write_is_refused(gateway: MemoryGateway, role: str) -> None:
    refused = (await gateway.post(RENAME, token=f"acme/{role}")).json()
    assert refused["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    assert "TransactWriteItems" not in gateway.calls


async def test_a_token_that_is_not_signed_is_refused(gateway: MemoryGateway) -> None:
    assert (await post(gateway.client, ORDER, None, "acme/viewer")).status_code == 401
    assert gateway.calls == []


async def test_a_row_that_other_tests_have_too_is_replaced_and_not_changed(gateway: MemoryGateway) -> None:
    key = "TENANT#acme#PRODUCT#p-1001", "DETAILS"
    with pytest.raises(TypeError, match="other tests have this row too"):
        gateway.memory.rows[key]["title"] = {"S": "Hammer"}
    gateway.change(*key, title={"S": "Hammer"})
    assert (await gateway.ask('{ product(productId: "p-1001") { title } }'))["product"] == {"title": "Hammer"}
    assert MemoryGateway().memory.rows[key]["title"] != {"S": "Hammer"}
