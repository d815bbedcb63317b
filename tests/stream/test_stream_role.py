"""The reader over the wire, in its own role: the sandbox enforces what AWS would."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator

import boto3
import pytest
from botocore.exceptions import ClientError

from gateway.demo import MODEL
from gateway.sandbox.assembly import build, engine_for
from gateway.sandbox.ready import Options, Ready
from gateway.sandbox.server import address_of, listen, served_in_thread
from gateway.settings import Settings
from gateway.stream.bus import InProcessBus
from gateway.stream.note import ChangeNote
from gateway.testing.services import settings
from gateway.wiring.stream import ReaderProcess
from tests.stream.streaming import until

pytestmark = pytest.mark.anyio
REGION = "eu-west-1"


@pytest.fixture(scope="module")
def ready() -> Iterator[Ready]:
    account = "".join(secrets.choice("123456789") for _ in range(12))
    options = Options(port=0, account=account, region=REGION, log="WARNING")
    engine = engine_for(options)
    with listen(0) as listening:
        assembly = asyncio.run(build(options, engine, address_of(listening), lambda model, now: []))
        with served_in_thread(assembly.app, listening):
            yield assembly.ready
    asyncio.run(engine.close())


def inside(ready: Ready) -> Settings:
    return settings(
        stream="inside",
        stream_role_arn=ready.stream_role_arn,
        table_name=ready.table,
        **dict.fromkeys(("dynamodb_endpoint", "sts_endpoint", "dynamodb_streams_endpoint"), ready.url),
    )


def session(ready: Ready, role: bool = False) -> boto3.Session:
    own = boto3.Session(ready.gateway.access_key, ready.gateway.secret_key, region_name=REGION)
    if not role:
        return own
    sts = own.client("sts", endpoint_url=ready.url)
    keys = sts.assume_role(RoleArn=ready.stream_role_arn, RoleSessionName="test")["Credentials"]
    sts.close()
    return boto3.Session(keys["AccessKeyId"], keys["SecretAccessKey"], keys["SessionToken"], region_name=REGION)


@pytest.fixture
async def notes(ready: Ready) -> AsyncIterator[list[ChangeNote]]:
    bus, received = InProcessBus(), list[ChangeNote]()
    bus.subscribe(None, received.append)
    async with ReaderProcess(inside(ready), MODEL.table, session(ready), bus).running():
        yield received


async def test_the_reader_works_with_nothing_but_its_role(ready: Ready, notes: list[ChangeNote]) -> None:
    admin = boto3.Session(ready.admin.access_key, ready.admin.secret_key, region_name=REGION)
    dynamodb = admin.client("dynamodb", endpoint_url=ready.url)
    for tenant in ("acme", "globex"):
        item = {"PK": {"S": f"TENANT#{tenant}#USER#1"}, "SK": {"S": "PROFILE"}, "EntityType": {"S": "User"}}
        await asyncio.to_thread(dynamodb.put_item, TableName=ready.table, Item=item)
    dynamodb.close()
    await until(lambda: len(notes) == 2)
    assert [note.tenant for note in notes] == ["acme", "globex"]


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("get_item", {"Key": {"PK": {"S": "TENANT#acme#USER#1"}, "SK": {"S": "PROFILE"}}}),
        ("put_item", {"Item": {"PK": {"S": "TENANT#acme#USER#1"}, "SK": {"S": "PROFILE"}}}),
        ("delete_item", {"Key": {"PK": {"S": "SYSTEM#STREAM"}, "SK": {"S": "x"}}}),
        ("scan", {}),
    ],
)
def test_its_role_reaches_no_row_of_a_tenant(ready: Ready, operation: str, request_: dict[str, object]) -> None:
    dynamodb = session(ready, role=True).client("dynamodb", endpoint_url=ready.url)
    with pytest.raises(ClientError, match="AccessDenied"):
        getattr(dynamodb, operation)(TableName=ready.table, **request_)
    dynamodb.close()


def test_the_gateways_own_role_reads_no_stream(ready: Ready) -> None:
    streams = session(ready).client("dynamodbstreams", endpoint_url=ready.url)
    arn = f"arn:aws:dynamodb:{REGION}:{ready.role_arn.split(':')[4]}:table/{ready.table}/stream/x"
    with pytest.raises(ClientError, match="AccessDenied"):
        streams.describe_stream(StreamArn=arn)
    streams.close()
