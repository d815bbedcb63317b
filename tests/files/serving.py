"""The vault on a sandbox, with what tests look at besides its API: its sessions and its bucket."""

import hashlib
import secrets
import ssl
from base64 import b64encode
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2

from gateway.app import Services, build_gateway
from gateway.aws.sts.session import Session
from gateway.aws.sts.sessions import Sessions
from gateway.aws.sts.sts_client import StsClient
from gateway.aws.wire.dynamodb import DynamoDBClient
from gateway.aws.wire.s3 import SignedRequest, signed
from gateway.identity.principal import Principal
from gateway.model.tenant import tenant_id
from gateway.sandbox.assembly import build, engine_for
from gateway.sandbox.aws.s3 import KeptObject, SandboxS3
from gateway.sandbox.ready import Options
from gateway.sandbox.server import address_of, listen, served_in_thread
from gateway.testing.client import AsyncGatewayClient
from gateway.testing.services import REGION, CallLog, fetch_keys, settings
from tests.fixtures import aws

DOMAIN = "tests.files.vault"
# addresses here are without TLS: to load the certificates of all authorities takes longer than a request
_NO_AUTHORITIES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
ROLES = ("admin", "editor", "support", "viewer", "member")


def digest(content: bytes) -> str:
    return b64encode(hashlib.sha256(content).digest()).decode()


@dataclass(frozen=True)
class Vault:
    client: AsyncGatewayClient
    sessions: Sessions
    s3: SandboxS3
    bucket: str

    async def session(self, tenant: str, role: str, subject: str | None = None) -> Session:
        return await self.sessions.open(
            Principal(tenant_id(tenant), subject or "somebody", frozenset({role}), "test", 2**40)
        )

    async def send_signed(self, method: str, key: str, by: Session, **headers: str) -> int:
        """A request that the session signs itself, as whoever stole its credentials would."""
        assert by.tenancy.files is not None
        return await send(signed(by.tenancy.files, method, key, by.credentials, headers=headers))

    @property
    def keys(self) -> list[str]:
        return sorted(key for _, key in self.s3.objects)

    def kept(self, key: str) -> KeptObject:
        return self.s3.objects[self.bucket, key]

    async def mutate(self, name: str, returns: str, given: Mapping[str, Any], **who: Any) -> dict[str, Any]:
        title = name[0].upper() + name[1:]
        text = f"mutation ($input: {title}Input!) {{ {name}(input: $input) {{ {returns} errors {{ code field }} }} }}"
        found: dict[str, Any] = (await self.client.mutate(text, {"input": given}, **who))[name]
        return found

    async def paper(self, paper: str = "p-1", **who: Any) -> None:
        made = await self.mutate("createPaper", "", {"paperId": paper, "title": "Letter"}, **who)
        assert made["errors"] == []

    async def sign(self, content: bytes, paper: str = "p-1", attribute: str = "Scan", **more: Any) -> dict[str, Any]:
        who = {name: more.pop(name) for name in ("tenant", "role", "subject") if name in more}
        kind = "application/pdf" if attribute == "Scan" else "image/png"
        given = {"paperId": paper, "size": len(content), "contentType": kind, "sha256": digest(content), **more}
        returns = "upload { uploadId url headers { name value } expiresAt }"
        return await self.mutate(f"uploadPaper{attribute}", returns, given, **who)

    async def put(self, upload: str | None, paper: str = "p-1", attribute: str = "Scan", **who: Any) -> dict[str, Any]:
        returns = "paper { version scan { size contentType sha256 uploadId } }"
        return await self.mutate(f"setPaper{attribute}", returns, {"paperId": paper, "uploadId": upload}, **who)

    async def stored(self, content: bytes, paper: str = "p-1", attribute: str = "Scan", **who: Any) -> str:
        """A file that was uploaded and put into the paper; its upload."""
        upload = (await self.sign(content, paper, attribute, **who))["upload"]
        assert await send_upload(upload, content) == 200
        assert (await self.put(upload["uploadId"], paper, attribute, **who))["errors"] == []
        return str(upload["uploadId"])


def plain_client() -> httpx2.AsyncClient:
    return httpx2.AsyncClient(verify=_NO_AUTHORITIES)


async def send(request: SignedRequest, content: bytes = b"") -> int:
    async with plain_client() as http:
        answer = await http.request(request.method, request.url, headers=dict(request.headers), content=content)
        return answer.status_code


async def send_upload(upload: Mapping[str, Any], content: bytes, **changed: str) -> int:
    headers = {each["name"]: each["value"] for each in upload["headers"]} | changed
    return await send(SignedRequest("PUT", upload["url"], headers, 0), content)


@asynccontextmanager
async def vault(**changes: Any) -> AsyncIterator[Vault]:
    account = "".join(secrets.choice("123456789") for _ in range(12))
    options = Options(port=0, account=account, region=REGION, log="WARNING", domains=(DOMAIN,))
    engine = engine_for(options)
    with listen(0) as listening:
        url = address_of(listening)
        assembly = await build(options, engine, url, lambda model, now: [])
        ready = assembly.ready
        with served_in_thread(assembly.app, listening):
            session = aws(ready.gateway.access_key, ready.gateway.secret_key, REGION)
            dynamodb, sts = DynamoDBClient(), StsClient(session, endpoint_url=url)
            values = {
                "domains": [DOMAIN],
                "table_name": ready.table,
                "tenant_role_arn": ready.role_arn,
                "dynamodb_endpoint": url,
                "sts_endpoint": url,
                "files_bucket": ready.bucket,
                "s3_endpoint": url,
                **changes,
            }
            log = CallLog(dynamodb)
            gateway = build_gateway(settings(**values), session, lambda line: None, Services(log, sts, fetch_keys))
            try:
                client = AsyncGatewayClient(gateway.endpoint, log, ROLES, gateway.streaming.socket)
                yield Vault(client, gateway.sessions, assembly.files, ready.bucket)
            finally:
                await gateway.close()
                await dynamodb.close()
                await sts.close()
                await engine.close()
