"""Who reaches which file: tenants, roles and subjects, before the gateway and before the sandbox's IAM."""

from typing import Any

import pytest

from gateway.aws.wire.s3 import signed
from gateway.errors import Forbidden
from gateway.model.files.keys import object_key
from gateway.model.tenant import tenant_id
from gateway.store.access import Access
from gateway.store.files.item_files import ItemFile, downloads, signed_upload
from gateway.testing import GraphQLErrors
from tests.files.serving import Vault, digest, send, send_upload
from tests.files.vault import AVATAR
from tests.files.vault import PAPER as PAPER_ENTITY

PAPER = b"%PDF a paper"
PNG = b"png"
SCAN = "query ($id: ID!) { paper(paperId: $id) { scanDownload { url } } }"
TRICKS = ("..", "../globex", "a/b", "%2e%2e", "%2Fglobex", "a\nb", "a\r\nX-Evil: 1", "a b", "*", "${aws:x}", "a?b", "")


async def test_another_tenant_gets_no_address_of_a_file(stores: Vault) -> None:
    await stores.paper()
    upload = await stores.stored(PAPER)
    assert (await stores.client.query(SCAN, {"id": "p-1"}, tenant="globex"))["paper"] is None
    assert (await stores.sign(PAPER, tenant="globex"))["errors"] == [{"code": "NOT_FOUND", "field": "paperId"}]
    # its own paper of the same id has its own place: the upload of the other tenant is not there
    await stores.paper(tenant="globex")
    assert (await stores.put(upload, tenant="globex"))["errors"] == [{"code": "NOT_FOUND", "field": "uploadId"}]


async def test_aws_refuses_the_files_of_another_tenant_whoever_signs(stores: Vault) -> None:
    await stores.paper()
    await stores.stored(PAPER)
    [key] = stores.keys
    for role in ("admin", "editor", "viewer", "support"):
        thief = await stores.session("globex", role)
        assert await stores.send_signed("GET", key, thief) == 403
        assert await stores.send_signed("PUT", "acme/Paper/scan/p-1/x", thief) == 403
        # neither the bucket, nor keys that only contain the own tenant
        for near in ("", "globex", "globex2/Paper/scan/p-1/x", "acme/globex/Paper/scan/p-1/x", "/globex/Paper/x"):
            assert await stores.send_signed("PUT", near, thief) in (403, 404), near
        owner = await stores.session("acme", role)
        assert await stores.send_signed("GET", key, owner) == 200


async def test_the_gateway_refuses_a_foreign_key_before_it_signs(stores: Vault) -> None:
    """Should a plan ever name the file of another tenant: the same policies say no before an address exists."""
    access = Access(await stores.session("globex", "editor"))
    values = {"paperId": "p-1", "scan": {"uploadId": "0" * 32, "size": 1, "contentType": "text/plain"}}
    place = ItemFile(PAPER_ENTITY, "scan", values)
    place_of_acme = _Foreign(PAPER_ENTITY, "scan", values)
    assert signed_upload(access, place, 1, "text/plain", digest(b"x"))["uploadId"]
    with pytest.raises(Forbidden):
        signed_upload(access, place_of_acme, 1, "text/plain", digest(b"x"))
    assert access.refusals[0].what == "s3:PutObject"


class _Foreign(ItemFile):
    def key(self, session: Any, upload: str) -> str:
        return object_key(tenant_id("acme"), self.entity, self.attribute, self.values, upload)


async def test_paths_in_ids_and_uploads_are_refused(stores: Vault) -> None:
    await stores.paper()
    for trick in TRICKS:
        assert (await stores.sign(PAPER, trick))["errors"][0]["code"] == "INVALID", trick
        assert (await stores.put(trick))["errors"][0] == {"code": "INVALID", "field": "uploadId"}, trick
    assert stores.keys == []


async def test_size_type_and_content_are_signed(stores: Vault) -> None:
    await stores.paper()
    upload = (await stores.sign(PAPER))["upload"]
    assert await send_upload(upload, PAPER + b"!") == 403
    assert await send_upload(upload, b"%PDF b paper") == 400
    assert await send_upload(upload, PAPER, **{"Content-Type": "text/html"}) == 403
    assert await send_upload(upload, PAPER, **{"x-amz-tagging": "state=kept"}) == 403
    assert await send_upload(upload, PAPER, **{"x-amz-acl": "public-read"}) == 403
    without = {**upload, "headers": [each for each in upload["headers"] if each["name"] != "If-None-Match"]}
    assert await send_upload(without, PAPER) == 403
    moved = {**upload, "url": upload["url"].replace("/p-1/", "/p-2/")}
    assert await send_upload(moved, PAPER) == 403
    assert stores.keys == []
    assert await send_upload(upload, PAPER) == 200
    assert await send_upload(upload, PAPER) == 412, "nothing is written over"


async def test_too_large_and_other_types_are_not_signed(stores: Vault) -> None:
    await stores.paper()
    wrong = await stores.sign(PAPER, size=1_001, contentType="text/html")
    assert (wrong["upload"], wrong["errors"]) == (
        None,
        [{"code": "INVALID", "field": "size"}, {"code": "INVALID", "field": "contentType"}],
    )
    assert (await stores.sign(PAPER, sha256="short"))["errors"] == [{"code": "INVALID", "field": "sha256"}]


async def test_an_address_ends_with_its_time_and_with_its_session(stores: Vault) -> None:
    await stores.paper()
    await stores.stored(PAPER)
    session = await stores.session("acme", "viewer")
    bucket = session.tenancy.files
    assert bucket is not None
    late = signed(bucket, "GET", stores.keys[0], session.credentials, seconds=10, now=session.opened_at - 60)
    assert await send(late) == 403
    longest = signed(bucket, "GET", stores.keys[0], session.credentials, seconds=604_800)
    assert longest.expires_at <= session.credentials.expires_at
    stolen = longest.url.replace("X-Amz-Expires=", "X-Amz-Expires=9")
    assert await send(type(longest)("GET", stolen, {}, 0)) == 403


async def test_a_role_has_the_files_of_the_attributes_that_it_reads(stores: Vault) -> None:
    await stores.paper()
    await stores.stored(PAPER)
    await stores.stored(PNG, attribute="Signature")
    scan, signature = stores.keys
    helper, viewer = await stores.session("acme", "support"), await stores.session("acme", "viewer")
    assert [await stores.send_signed("GET", scan, each) for each in (helper, viewer)] == [200, 200]
    assert [await stores.send_signed("GET", signature, each) for each in (helper, viewer)] == [403, 200]
    with pytest.raises(GraphQLErrors) as refused:
        await stores.client.query('{ paper(paperId: "p-1") { signatureDownload { url } } }', role="support")
    assert refused.value.codes == ["FORBIDDEN"]
    for reader in (helper, viewer):
        assert await stores.send_signed("PUT", "acme/Paper/scan/p-1/x", reader) == 403
    found = downloads(Access(helper), PAPER_ENTITY, "signature", [_row("signature", signature)])
    assert isinstance(found[0], Forbidden)


async def test_a_member_has_only_its_own_picture(stores: Vault) -> None:
    async def stored(member: str) -> None:
        who = {"role": "member", "subject": member}
        made = await stores.mutate("createAvatar", "", {"memberId": member, "title": "Me"}, **who)
        assert made["errors"] == []
        given = {"memberId": member, "size": len(PNG), "contentType": "image/png", "sha256": digest(PNG)}
        answer = await stores.mutate(
            "uploadAvatarPicture", "upload { uploadId url headers { name value } }", given, **who
        )
        assert await send_upload(answer["upload"], PNG) == 200
        taken = {"memberId": member, "uploadId": answer["upload"]["uploadId"]}
        assert (await stores.mutate("setAvatarPicture", "", taken, **who))["errors"] == []

    await stored("m-1")
    await stored("m-2")
    one, two = stores.keys
    assert one.startswith("acme/Avatar/picture/m-1/")
    member = await stores.session("acme", "member", "m-1")
    assert [await stores.send_signed("GET", key, member) for key in (one, two)] == [200, 403]
    assert await stores.send_signed("PUT", "acme/Avatar/picture/m-2/x", member) == 403
    assert await stores.send_signed("PUT", "acme/Avatar/picture/m-10/x", member) == 403
    assert await stores.send_signed("GET", "acme/Paper/scan/p-1/x", member) == 403
    given = {"memberId": "m-2", "size": len(PNG), "contentType": "image/png", "sha256": digest(PNG)}
    other = await stores.mutate("uploadAvatarPicture", "upload { url }", given, role="member", subject="m-1")
    assert other["errors"][0]["code"] == "NOT_FOUND"
    found = downloads(Access(member), AVATAR, "picture", [_row("picture", two, memberId="m-2")])
    assert isinstance(found[0], Forbidden)


def _row(attribute: str, key: str, **values: str) -> dict[str, Any]:
    file = {"uploadId": key.rpartition("/")[2], "size": 3, "contentType": "image/png"}
    return {"paperId": "p-1", **values, attribute: file}
