"""Revoked support grants: a file of grant ids, one per line, read again for every request with a grant."""

import asyncio
import logging
import os
from pathlib import Path

from gateway.errors import BadUserInput
from gateway.identity.errors import TokenRefused
from gateway.identity.support import SupportAccess, is_grant_id, naming_grant

MAX_BYTES = 1024 * 1024
_log = logging.getLogger("gateway.support")


class Revocations:
    """Without a file, nothing is revoked. If the file cannot be read, every grant is refused; users are not
    affected."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path

    async def check(self, support: SupportAccess) -> None:
        """Raises `TokenRefused` for a grant that is or may be revoked."""
        if self._path is None:
            return
        with naming_grant(support):
            await self._check(self._path, support)

    async def _check(self, path: Path, support: SupportAccess) -> None:
        try:
            # not on the event loop: the file may be on a network, and only grants should wait for it
            revoked = await asyncio.to_thread(read_revocations, path)
        except (OSError, ValueError) as error:
            _log.error("revoked support grants cannot be read, so every grant is refused: %s", error)
            raise TokenRefused(
                "support access cannot be checked", "the file of revoked grants cannot be read"
            ) from error
        if support.grant_id in revoked:
            raise TokenRefused("support access was revoked")


def read_revocations(path: Path) -> frozenset[str]:
    """`ValueError` for a file that is too large or has a line that is not a grant id; `#` starts a comment."""
    with path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError(f"`{path}` has more than {MAX_BYTES} bytes")
    lines = (line.partition("#")[0].strip() for line in content.decode("utf-8").splitlines())
    ids = frozenset(line for line in lines if line)
    if not all(is_grant_id(line) for line in ids):
        raise ValueError(f"`{path}` has a line that is not a grant id")
    return ids


def revoke(path: Path, grant_id: str) -> None:
    """Adds the grant to the file in one write, so that several processes can do so at the same time."""
    if not is_grant_id(grant_id):
        raise BadUserInput("a grant id has 8 to 64 characters of A-Z, a-z, 0-9, _ and -")
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        # the id must not become part of a last line without a line end
        os.write(file, f"\n{grant_id}\n".encode())
        os.fsync(file)
    finally:
        os.close(file)
