"""Revoked support grants: refused from the next request on, and nobody else is."""

from pathlib import Path

import pytest

from gateway.errors import BadUserInput
from gateway.identity.authenticator import Authenticator
from gateway.identity.errors import TokenRefused
from gateway.identity.revocations import MAX_BYTES, Revocations, read_revocations, revoke
from gateway.identity.support import SupportAccess, SupportRules
from tests.identity.fixtures import Clock, Publisher, good_token, issuer
from tests.identity.test_support import grant

GRANT = SupportAccess("grant-0001", "jane@example.org", "ticket 4711")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "revoked"
    file.write_text("")
    return file


def authenticator(path: Path) -> Authenticator:
    rules = SupportRules(only=False)
    return Authenticator([issuer(support=rules)], fetch=Publisher(), clock=Clock(), revocations=Revocations(path))


def write(path: Path, content: bytes | None) -> None:
    """`None` removes the file."""
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)


async def refused(path: Path) -> str:
    with pytest.raises(TokenRefused) as caught:
        await Revocations(path).check(GRANT)
    return caught.value.message


async def test_a_grant_is_refused_as_soon_as_its_id_is_in_the_file(path: Path) -> None:
    revocations = Revocations(path)
    await revocations.check(GRANT)
    revoke(path, "grant-0002")
    await revocations.check(GRANT)
    revoke(path, GRANT.grant_id)
    assert await refused(path) == "support access was revoked"


async def test_a_verified_grant_and_a_new_one_are_refused_alike(path: Path) -> None:
    trusted, header = authenticator(path), f"Bearer {grant()}"
    verified = await trusted.verify(header)
    assert await trusted.still_holds(verified)
    revoke(path, "grant-0001")
    for check in (trusted.still_holds(verified), trusted.verify(header)):
        with pytest.raises(TokenRefused, match="support access was revoked") as caught:
            await check
        assert caught.value.support == verified.principal.support


@pytest.mark.parametrize("content", [None, b"not an id\n", b"\xff\xfe", b"#" * (MAX_BYTES + 1)])
async def test_a_file_that_cannot_be_read_refuses_every_grant_and_no_user(path: Path, content: bytes | None) -> None:
    write(path, content)
    assert await refused(path) == "support access cannot be checked"
    trusted = authenticator(path)
    assert (await trusted.verify(f"Bearer {good_token()}")).principal.support is None


async def test_without_a_file_nothing_is_revoked() -> None:
    await Revocations().check(GRANT)


def test_lines_may_have_comments(path: Path) -> None:
    path.write_text("# tickets\ngrant-0001  # 4711\n\n  grant-0002")
    assert read_revocations(path) == {"grant-0001", "grant-0002"}
    # a last line without its end stays as it is
    revoke(path, "grant-0003")
    assert read_revocations(path) == {"grant-0001", "grant-0002", "grant-0003"}


@pytest.mark.parametrize("grant_id", ["", "short", "grant 0001", "grant-0001\nother-grant"])
def test_only_a_grant_id_is_written(path: Path, grant_id: str) -> None:
    with pytest.raises(BadUserInput):
        revoke(path, grant_id)
    assert path.read_text() == ""
