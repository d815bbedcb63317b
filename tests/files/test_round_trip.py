"""Files from upload to removal, over the API and the sandbox's S3."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.aws.wire import s3
from gateway.aws.wire.endpoint import AwsTarget
from gateway.aws.wire.errors import AwsUnavailable
from gateway.errors import ConfigurationError
from gateway.testing import serve
from tests.files.serving import DOMAIN, Vault, digest, plain_client, send_upload, vault

PAPER = b"%PDF a paper"
READ = """query ($id: ID!) { paper(paperId: $id) {
  scan { size } scanDownload { url expiresAt size contentType } signatureDownload { url } } }"""
UNUSED = {"state": "unused"}


async def read(stores: Vault, paper: str = "p-1", **who: Any) -> Any:
    return (await stores.client.query(READ, {"id": paper}, **who))["paper"]


async def test_a_file_is_uploaded_taken_and_downloaded(stores: Vault) -> None:
    await stores.paper()
    upload = (await stores.sign(PAPER))["upload"]
    assert await send_upload(upload, PAPER) == 200
    [key] = stores.keys
    assert key == f"acme/Paper/scan/p-1/{upload['uploadId']}"
    assert stores.kept(key).tags == UNUSED, "nothing refers to it yet"
    taken = await stores.put(upload["uploadId"])
    assert taken["paper"]["scan"] == {
        "size": len(PAPER),
        "contentType": "application/pdf",
        "sha256": digest(PAPER),
        "uploadId": upload["uploadId"],
    }
    assert stores.kept(key).tags == {}
    found = (await read(stores))["scanDownload"]
    assert (found["size"], found["contentType"]) == (len(PAPER), "application/pdf")
    expires = datetime.fromisoformat(found["expiresAt"]) - datetime.now(UTC)
    assert timedelta(seconds=200) < expires <= timedelta(seconds=300)
    async with plain_client() as http:
        answer = await http.get(found["url"])
    assert answer.content == PAPER
    assert answer.headers["content-disposition"] == "attachment", "no browser shows it as a page"


async def test_a_paper_without_a_file_has_no_address(stores: Vault) -> None:
    await stores.paper()
    assert await read(stores) == {"scan": None, "scanDownload": None, "signatureDownload": None}


async def test_addresses_of_a_list_take_no_call_each(stores: Vault) -> None:
    for number in range(3):
        await stores.paper(f"p-{number}")
        await stores.stored(PAPER, f"p-{number}")
    fields = " ".join(f'a{number}: paper(paperId: "p-{number}") {{ scanDownload {{ url }} }}' for number in range(3))
    await stores.client.query(f"{{ {fields} }}")
    assert stores.client.calls == ["BatchGetItem"]


async def test_what_was_not_uploaded_is_not_taken(stores: Vault) -> None:
    await stores.paper()
    upload = (await stores.sign(PAPER))["upload"]
    missing = await stores.put(upload["uploadId"])
    assert missing["errors"] == [{"code": "NOT_FOUND", "field": "uploadId"}]
    assert (await read(stores))["scan"] is None


async def test_an_upload_is_of_one_paper_and_one_attribute(stores: Vault) -> None:
    await stores.paper()
    await stores.paper("p-2")
    upload = await stores.stored(PAPER)
    for where in ({"paper": "p-2"}, {"attribute": "Signature"}):
        assert (await stores.put(upload, **where))["errors"] == [{"code": "NOT_FOUND", "field": "uploadId"}]


async def test_a_replaced_and_a_removed_file_are_left_to_the_lifecycle(stores: Vault) -> None:
    await stores.paper()
    first = await stores.stored(PAPER)
    second = await stores.stored(PAPER + b", again")
    assert {key.rpartition("/")[2]: dict(stores.kept(key).tags) for key in stores.keys} == {first: UNUSED, second: {}}
    assert (await stores.put(None))["paper"]["scan"] is None
    assert all(stores.kept(key).tags == UNUSED for key in stores.keys)


async def test_the_files_of_a_removed_paper_are_left_to_the_lifecycle(stores: Vault) -> None:
    await stores.paper()
    await stores.stored(PAPER)
    await stores.stored(b"png", attribute="Signature")
    assert all(stores.kept(key).tags == {} for key in stores.keys)
    removed = await stores.mutate("removePaper", "", {"paperId": "p-1"}, role="admin")
    assert removed["errors"] == []
    assert [dict(stores.kept(key).tags) for key in stores.keys] == [UNUSED, UNUSED]


async def test_taking_the_same_upload_twice_changes_nothing(stores: Vault) -> None:
    await stores.paper()
    upload = await stores.stored(PAPER)
    again = await stores.put(upload)
    assert (again["errors"], again["paper"]["version"]) == ([], 2)
    assert stores.kept(stores.keys[0]).tags == {}


async def test_a_conflict_leaves_the_file_to_the_lifecycle(stores: Vault) -> None:
    await stores.paper()
    upload = (await stores.sign(PAPER))["upload"]
    assert await send_upload(upload, PAPER) == 200
    real = s3.mark

    async def slow(*given: Any, unused: bool) -> None:
        await real(*given, unused=unused)
        if not unused:
            await stores.mutate("updatePaper", "", {"paperId": "p-1", "title": "Meanwhile"})

    s3.mark = slow  # type: ignore[assignment]  # between the mark and the write, somebody else is faster
    try:
        late = await stores.put(upload["uploadId"])
    finally:
        s3.mark = real
    assert late["errors"] == [{"code": "CONFLICT", "field": "version"}]
    assert stores.kept(stores.keys[0]).tags == UNUSED


async def test_a_bucket_that_cannot_be_reached_is_unavailable_and_a_removal_still_succeeds(
    stores: Vault, caplog: pytest.LogCaptureFixture
) -> None:
    await stores.paper()
    await stores.stored(PAPER)
    stores.s3.objects.clear()
    removed = await stores.mutate("removePaper", "", {"paperId": "p-1"}, role="admin")
    assert removed["errors"] == []
    assert "a file that no item refers to stays in the bucket" in caplog.text
    nowhere = s3.FileBucket("b-1", AwsTarget("http://127.0.0.1:9", "eu-west-1"), in_path=True)
    session = await stores.session("acme", "editor")
    with pytest.raises(AwsUnavailable, match="cannot be reached"):
        await s3.stored(nowhere, "acme/x", session.credentials)


async def test_addresses_work_as_long_as_the_setting_says() -> None:
    async with vault(file_url_seconds=20) as stores:
        await stores.paper()
        upload = (await stores.sign(PAPER))["upload"]
        assert "X-Amz-Expires=20&" in upload["url"]


def test_a_model_with_files_needs_a_bucket() -> None:
    with pytest.raises(ConfigurationError, match=r"files_bucket: required, because `Paper.scan` is a file"):
        serve(DOMAIN, files_bucket=None).__enter__()
