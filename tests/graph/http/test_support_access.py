"""Each answer and each log line of a request with support access says who acts, and why."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from gateway.aws.sts.callers import Caller
from gateway.errors import TenantSuspended
from gateway.graph.http.endpoint import CallerSource
from gateway.identity.errors import TokenRefused
from gateway.identity.principal import Principal
from gateway.identity.support import SupportAccess, naming_grant
from tests.graph.fixtures import MemoryEndpoint

GRANT = SupportAccess("grant-0001", "jane@example.org", "ticket 4711")
NOTICE = {
    "actor": "jane@example.org",
    "tenant": "acme",
    "reason": "ticket 4711",
    "expiresAt": "2027-01-15T08:00:00Z",
}
PRODUCT = '{ product(productId: "p-1001") { productId } }'


@dataclass
class SupportDoor:
    """Takes everybody for a person with support access."""

    source: CallerSource
    suspended: bool = False
    refused: bool = False

    def known(self, authorization: bytes | None) -> Caller | None:
        return None

    async def open(self, authorization: bytes | None, identified: Callable[[Principal], None]) -> Caller:
        if self.refused:
            with naming_grant(GRANT):
                raise TokenRefused("support access was revoked")
        caller = await self.source.open(authorization, lambda principal: None)
        principal = replace(caller.principal, subject=f"support:{GRANT.actor}", expires_at=1_800_000_000, support=GRANT)
        identified(principal)
        if self.suspended:
            raise TenantSuspended("the tenant is suspended")
        return replace(caller, principal=principal)


def supporting(*, suspended: bool = False, refused: bool = False) -> MemoryEndpoint:
    api = MemoryEndpoint()
    api.endpoint = replace(api.endpoint, callers=SupportDoor(api.endpoint.callers, suspended, refused))
    return api


@pytest.mark.parametrize(
    ("query", "status"),
    [
        (PRODUCT, 200),
        ("{ __typename }", 200),
        ("{ nothing }", 200),
        ("{", 200),
        ('{ product(productId: "nobody") { productId } }', 200),
        ('mutation { removeProduct(input: {productId: "p-1001"}) { __typename } }', 200),
    ],
)
async def test_every_answer_says_so(query: str, status: int) -> None:
    api = supporting()
    # twice: by the reference and in a lane
    for _ in range(2):
        response = await api.post(query)
        assert (response.status_code, response.json()["extensions"]["supportAccess"]) == (status, NOTICE)


async def test_an_answer_that_shows_its_cost_says_so_too() -> None:
    api = supporting()
    found = (await api.post(PRODUCT, extensions={"cost": True})).json()["extensions"]
    assert found["supportAccess"] == NOTICE
    assert "estimate" in found["cost"]


async def test_an_error_says_so_as_soon_as_the_token_is_believed() -> None:
    response = await supporting(suspended=True).post(PRODUCT)
    assert (response.status_code, response.json()["extensions"]["supportAccess"]) == (403, NOTICE)


@pytest.mark.parametrize("suspended", [False, True])
async def test_every_line_of_the_log_says_so(caplog: pytest.LogCaptureFixture, suspended: bool) -> None:
    with caplog.at_level(logging.INFO, "gateway.operation"):
        await supporting(suspended=suspended).post(PRODUCT)
    assert (
        _line(caplog).items()
        >= {
            "actor": "jane@example.org",
            "grant": "grant-0001",
            "grant_reason": "ticket 4711",
        }.items()
    )


async def test_the_line_of_a_refused_grant_says_who_tried(caplog: pytest.LogCaptureFixture) -> None:
    api = supporting(refused=True)
    with caplog.at_level(logging.INFO, "gateway.operation"):
        response = await api.post(PRODUCT)
    assert response.status_code == 401
    assert "jane" not in response.text
    line = _line(caplog)
    assert (line["actor"], line["grant"], line["grant_reason"]) == (GRANT.actor, GRANT.grant_id, GRANT.reason)
    assert line["tenant"] is None


async def test_nobody_else_has_the_notice(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "gateway.operation"):
        response = await MemoryEndpoint().post(PRODUCT)
    assert "extensions" not in response.json()
    assert not {"actor", "grant", "grant_reason"} & set(_line(caplog))


def _line(caplog: pytest.LogCaptureFixture) -> dict[str, Any]:
    (record,) = [record for record in caplog.records if record.name == "gateway.operation"]
    fields: dict[str, Any] = record.fields  # type: ignore[attr-defined]  # written by the log
    return fields
