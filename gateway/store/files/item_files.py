"""Files of items: their uploads, the check of an upload, and their downloads, all with the session of one request.

An upload is signed for one key, size, type and checksum, and is tagged as unused; the bucket's lifecycle removes
objects that stay unused for a day. A file is attached to an item once the object exists and its tag is removed. A
file that an item no longer refers to is tagged again. The gateway never deletes an object.
"""

import asyncio
import logging
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from gateway.aws.sts.session import Session
from gateway.aws.wire import s3
from gateway.aws.wire.s3 import UNUSED, FileBucket, SignedRequest
from gateway.errors import BadUserInput, Forbidden, GatewayError, Internal
from gateway.iam.language.verdict import Deny
from gateway.model.entity import Entity
from gateway.model.error_code import UserErrorCode
from gateway.model.files.keys import file_type, object_key
from gateway.store.access import Access, Refusal
from gateway.store.write.faults import Fault, Rejected

_log = logging.getLogger("gateway.files")
Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ItemFile:
    """A place for files: an attribute of an item, with the values that identify the item."""

    entity: Entity
    attribute: str
    values: Values

    def key(self, session: Session, upload: str) -> str:
        return object_key(session.tenant, self.entity, self.attribute, self.values, upload)


def signed_upload(access: Access, place: ItemFile, size: int, content_type: str, sha256: str) -> dict[str, Any]:
    """The address and headers of one upload; INVALID if the model does not allow such a file."""
    if faults := [*file_type(place.entity, place.attribute).upload_faults(size, content_type)]:
        raise BadUserInput(faults[0].message, faults[0].field, tuple(faults[1:]))
    upload = secrets.token_hex(16)
    key = place.key(access.session, upload)
    for action in ("s3:PutObject", "s3:PutObjectTagging"):
        _authorize(access, action, key)
    # INVARIANT: size, type and content are signed, and an existing object is never overwritten.
    headers = {
        "Content-Type": content_type,
        "Content-Length": str(size),
        "If-None-Match": "*",
        "x-amz-checksum-sha256": sha256,
        "x-amz-tagging": UNUSED,
    }
    request = s3.signed(_bucket(access.session), "PUT", key, access.session.credentials, headers=headers)
    # every client sends the length itself, and browsers do not let scripts set it
    sent = [{"name": name, "value": value} for name, value in headers.items() if name != "Content-Length"]
    return {"uploadId": upload, "url": request.url, "headers": sent, "expiresAt": _expiry(request)}


async def arrived(access: Access, place: ItemFile, upload: str) -> dict[str, Any]:
    """The uploaded file, as the item stores it; NOT_FOUND if it does not exist."""
    key = place.key(access.session, upload)
    _authorize(access, "s3:GetObject", key)
    stored = await s3.stored(_bucket(access.session), key, access.session.credentials)
    if stored is None:
        message = "nothing was uploaded with this id for this item, or it has been removed after a day"
        raise Rejected(Fault(UserErrorCode.NOT_FOUND, message, "uploadId"))
    return {"uploadId": upload, "size": stored.size, "contentType": stored.content_type, "sha256": stored.sha256}


async def keep(access: Access, place: ItemFile, upload: str) -> None:
    """Runs before an item refers to it: an object that is referred to is never removed."""
    await _mark(access, place.key(access.session, upload), unused=False)


async def give_up(access: Access, keys: Iterable[str]) -> None:
    """Tags files that no item refers to any more. A failure leaves the object in the bucket; it is logged, and is no
    error."""
    await asyncio.gather(*(_given_up(access, key) for key in keys))


async def _given_up(access: Access, key: str) -> None:
    try:
        await _mark(access, key, unused=True)
    except GatewayError as error:
        _log.warning("a file that no item refers to stays in the bucket: %s", error.message)


def downloads(access: Access, entity: Entity, attribute: str, rows: Sequence[Values]) -> list[Any]:
    """A signed address for each row that has a file; an error instead affects only that row."""
    return [_download(access, ItemFile(entity, attribute, row), row.get(attribute)) for row in rows]


def _download(access: Access, place: ItemFile, file: Values | None) -> Any:
    if file is None:
        return None
    try:
        key = place.key(access.session, file["uploadId"])
        _authorize(access, "s3:GetObject", key)
        # the type is signed into the address, and no browser displays the file as one of our pages
        parameters = {"response-content-disposition": "attachment", "response-content-type": file["contentType"]}
        request = s3.signed(_bucket(access.session), "GET", key, access.session.credentials, query=parameters)
    except GatewayError as error:
        return error
    return {
        "url": request.url,
        "expiresAt": _expiry(request),
        "size": file["size"],
        "contentType": file["contentType"],
    }


async def _mark(access: Access, key: str, *, unused: bool) -> None:
    _authorize(access, "s3:PutObjectTagging", key)
    await s3.mark(_bucket(access.session), key, access.session.credentials, unused=unused)


def _authorize(access: Access, action: str, key: str) -> None:
    """AWS decides when the address is used; this evaluates the same policies before an address is handed out."""
    session = access.session
    resource = f"arn:{session.tenancy.role_arn.split(':')[1]}:s3:::{_bucket(session).name}/{key}"
    verdict = session.permissions.check_action(action, resource)
    if isinstance(verdict, Deny):
        access.refusals.append(Refusal(action, verdict.reason))
        raise Forbidden(f"the role `{session.role}` may not do this with the file") from PermissionError(verdict.reason)


def _bucket(session: Session) -> FileBucket:
    if session.tenancy.files is None:
        raise Internal("the tenant has no bucket for files; set `files_bucket`")
    return session.tenancy.files


def _expiry(request: SignedRequest) -> datetime:
    return datetime.fromtimestamp(request.expires_at, UTC)
