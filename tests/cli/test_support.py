"""`gateway support`: from a grant to its revocation, on the whole gateway."""

from pathlib import Path

import pytest
from httpx2 import AsyncClient, Response
from typer.testing import CliRunner

from gateway.cli.main import app
from gateway.sandbox.sandbox import Sandbox
from tests.fixtures import client_of, post, sandbox_app

RUN = CliRunner()
QUERY = '{ user(userId: "u-1001") { userId email } }'


def granted(sandbox: Sandbox, tenant: str = "acme") -> tuple[str, str]:
    """The token and the grant's id."""
    options = ["--tenant", tenant, "--reason", "ticket 4711", "--actor", "jane@example.org", "--url", sandbox.url]
    result = RUN.invoke(app, ["support", "grant", *options])
    assert result.exit_code == 0, result.output
    return result.stdout.strip(), result.stderr.split()[1]


async def post_query(client: AsyncClient, token: str) -> Response:
    return await post(client, QUERY, None, token)


async def test_a_grant_opens_one_tenant_as_support_until_it_is_revoked(sandbox: Sandbox, tmp_path: Path) -> None:
    revoked = tmp_path / "revoked"
    assert RUN.invoke(app, ["support", "revoke", "some-other-grant", "--file", str(revoked)]).exit_code == 0
    token, grant_id = granted(sandbox)
    served = sandbox_app(sandbox, support_revocations=revoked)
    async with client_of(served) as client:
        answer = (await post_query(client, token)).json()
        notice = answer["extensions"]["supportAccess"]
        assert (notice["actor"], notice["tenant"], notice["reason"]) == ("jane@example.org", "acme", "ticket 4711")
        # personal information is hidden from the role, by AWS too
        assert answer["data"]["user"] == {"userId": "u-1001", "email": None}
        assert (await post_query(client, token)).status_code == 200
        result = RUN.invoke(app, ["support", "revoke", grant_id], env={"GATEWAY_SUPPORT_REVOCATIONS": str(revoked)})
        assert (result.exit_code, result.output.strip()) == (0, f"revoked {grant_id}")
        refused = await post_query(client, token)
        assert (refused.status_code, refused.json()["errors"][0]["message"]) == (401, "support access was revoked")
        # and another grant still works
        assert (await post_query(client, granted(sandbox, "globex")[0])).status_code == 200


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--minutes", "31"], "minutes must be"),
        (["--tenant", "stranger"], "unknown tenant"),
        (["--reason", ""], "reason"),
    ],
)
def test_a_wrong_grant_is_not_given(sandbox: Sandbox, options: list[str], said: str) -> None:
    arguments = ["--tenant", "acme", "--reason", "ticket", *options, "--url", sandbox.url]
    result = RUN.invoke(app, ["support", "grant", *arguments])
    assert result.exit_code == 1
    assert said in result.output


def test_a_revocation_needs_a_grant_id(tmp_path: Path) -> None:
    result = RUN.invoke(app, ["support", "revoke", "not an id", "--file", str(tmp_path / "revoked")])
    assert result.exit_code == 1
    assert "a grant id has" in result.output
