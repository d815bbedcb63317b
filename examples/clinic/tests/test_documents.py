"""Documents of patients, on the sandbox: the files go to its S3, and its IAM decides about each address."""

import hashlib
from base64 import b64encode
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from gateway.testing import GatewayClient, GraphQLErrors

from tests.test_clinic import codes, register

PDF = b"%PDF-1.7 a letter"
CREATE = """mutation ($input: CreateDocumentInput!) {
  createDocument(input: $input) { document { documentId } errors { code field } } }"""
UPLOAD = """mutation ($input: UploadDocumentContentInput!) {
  uploadDocumentContent(input: $input) {
    upload { uploadId url headers { name value } expiresAt } errors { code field message } } }"""
SET = """mutation ($input: SetDocumentContentInput!) {
  setDocumentContent(input: $input) {
    document { content { size contentType sha256 } version } errors { code field message } } }"""
READ = """query ($patient: ID!, $document: ID!) {
  document(patientId: $patient, documentId: $document) {
    title content { size contentType } contentDownload { url size contentType } } }"""

Keys = dict[str, str]


def digest(content: bytes) -> str:
    return b64encode(hashlib.sha256(content).digest()).decode()


def added(client: GatewayClient, tenant: str = "acme") -> Keys:
    patient = register(client, "Lovelace Ada") if tenant == "acme" else "p-1"
    given = {"patientId": patient, "title": "Letter"}
    made = client.mutate(CREATE, {"input": given}, tenant=tenant)["createDocument"]
    assert made["errors"] == []
    return {"patientId": patient, "documentId": made["document"]["documentId"]}


def signed(client: GatewayClient, document: Keys, content: bytes = PDF, role: str = "editor", **more: Any) -> Any:
    given = {**document, "size": len(content), "contentType": "application/pdf", "sha256": digest(content), **more}
    return client.mutate(UPLOAD, {"input": given}, role=role)["uploadDocumentContent"]


def send(upload: dict[str, Any], content: bytes = PDF, **changed: str) -> int:
    headers = {each["name"]: each["value"] for each in upload["headers"]} | changed
    try:
        with urlopen(Request(upload["url"], content, headers, method="PUT")) as answer:
            return int(answer.status)
    except HTTPError as error:
        with error:
            return error.code


def put(client: GatewayClient, document: Keys, upload: str | None, role: str = "editor") -> Any:
    return client.mutate(SET, {"input": {**document, "uploadId": upload}}, role=role)["setDocumentContent"]


def read(client: GatewayClient, document: Keys, role: str = "viewer") -> Any:
    names = {"patient": document["patientId"], "document": document["documentId"]}
    return client.query(READ, names, role=role)["document"]


def test_a_letter_is_uploaded_put_into_the_document_and_downloaded(sandbox_client: GatewayClient) -> None:
    letter = added(sandbox_client)
    upload = signed(sandbox_client, letter)["upload"]
    assert codes(put(sandbox_client, letter, upload["uploadId"])) == [("NOT_FOUND", "uploadId")]
    assert send(upload) == 200
    assert put(sandbox_client, letter, upload["uploadId"])["document"]["content"] == {
        "size": len(PDF),
        "contentType": "application/pdf",
        "sha256": digest(PDF),
    }
    found = read(sandbox_client, letter)
    assert found["content"] == {"size": len(PDF), "contentType": "application/pdf"}
    with urlopen(found["contentDownload"]["url"]) as answer:
        assert (answer.read(), answer.headers["content-type"]) == (PDF, "application/pdf")


def test_other_sizes_types_and_contents_are_refused(sandbox_client: GatewayClient) -> None:
    letter = added(sandbox_client)
    assert codes(signed(sandbox_client, letter, size=20_000_001)) == [("INVALID", "size")]
    assert codes(signed(sandbox_client, letter, contentType="text/html")) == [("INVALID", "contentType")]
    upload = signed(sandbox_client, letter)["upload"]
    assert send(upload, PDF + b"!") == 403, "the length is signed"
    assert send(upload, PDF.replace(b"a", b"b")) == 400, "the checksum is signed"
    assert send(upload, **{"Content-Type": "text/html"}) == 403
    assert send(upload) == 200
    assert send(upload) == 412, "nothing is written over"


def test_the_registry_handles_documents_and_the_billing_office_does_not_see_them(sandbox_client: GatewayClient) -> None:
    letter = added(sandbox_client)
    upload = signed(sandbox_client, letter, role="records")["upload"]
    assert send(upload) == 200
    assert codes(put(sandbox_client, letter, upload["uploadId"], role="records")) == []
    assert read(sandbox_client, letter, role="records")["contentDownload"]["size"] == len(PDF)
    with pytest.raises(GraphQLErrors, match="Cannot query field"):
        read(sandbox_client, letter, role="billing")
    assert codes(put(sandbox_client, letter, None, role="records")) == []
    assert read(sandbox_client, letter)["contentDownload"] is None
