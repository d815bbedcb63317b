"""A server that answers every DynamoDB call with canned JSON, fast enough to measure clients instead of itself.

It answers AssumeRole, too, with the credentials of the session that was asked for.
"""

import asyncio
import sys
from urllib.parse import parse_qs
from zlib import crc32

import httptools
import orjson
import uvloop


def item(number: int) -> dict[str, dict[str, str]]:
    return {
        "PK": {"S": f"TENANT#acme#ORDER#{number:08}"},
        "SK": {"S": "META"},
        "GSI1PK": {"S": f"TENANT#acme#USER#{number:06}"},
        "GSI1SK": {"S": "2026-03-01T10:20:30.000000Z"},
        "EntityType": {"S": "Order"},
        "version": {"N": "3"},
        "orderId": {"S": f"{number:08}"},
        "userId": {"S": f"{number:06}"},
        "status": {"S": "PLACED"},
        "total": {"N": "129.95"},
        "placedAt": {"S": "2026-03-01T10:20:30.000000Z"},
    }


def _response(content: object) -> bytes:
    body = orjson.dumps(content)
    head = (
        "HTTP/1.1 200 OK\r\nServer: Server\r\nDate: Mon, 02 Mar 2026 10:20:30 GMT\r\n"
        f"Content-Type: application/x-amz-json-1.0\r\nContent-Length: {len(body)}\r\nConnection: keep-alive\r\n"
        "x-amzn-RequestId: 0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789ABCDEF\r\n"
        f"x-amz-crc32: {crc32(body)}\r\n\r\n"
    )
    return head.encode() + body


RESPONSES = {
    b"DynamoDB_20120810.GetItem": _response({"Item": item(1)}),
    b"DynamoDB_20120810.Query": _response(
        {"Items": [item(number) for number in range(25)], "Count": 25, "ScannedCount": 25}
    ),
    b"DynamoDB_20120810.BatchGetItem": _response(
        {"Responses": {"gateway": [item(number) for number in range(100)]}, "UnprocessedKeys": {}}
    ),
}


def _assumed(form: bytes) -> bytes:
    parameters = {name: values[0] for name, values in parse_qs(form.decode()).items()}
    account, role = parameters["RoleArn"].split(":", 5)[4:]
    arn = f"arn:aws:sts::{account}:assumed-role/{role.rpartition('/')[2]}/{parameters['RoleSessionName']}"
    mark = f"{hash(arn) & 0xFFFFFFFFFFFF:012x}"
    body = (
        '<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>'
        f"<AssumedRoleUser><AssumedRoleId>AROA</AssumedRoleId><Arn>{arn}</Arn></AssumedRoleUser><Credentials>"
        f"<AccessKeyId>ASIA{mark}</AccessKeyId><SecretAccessKey>{mark}{'s' * 28}</SecretAccessKey>"
        f"<SessionToken>{mark}{'t' * 788}</SessionToken><Expiration>2090-01-01T00:00:00Z</Expiration></Credentials>"
        f"<PackedPolicySize>40</PackedPolicySize><SourceIdentity>{parameters['SourceIdentity']}</SourceIdentity>"
        "</AssumeRoleResult><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></AssumeRoleResponse>"
    )
    return f"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


class Stub(asyncio.Protocol):
    def __init__(self) -> None:
        self._parser = httptools.HttpRequestParser(self)
        self._operation = self._body = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() == b"x-amz-target":
            self._operation = value

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        self._transport.write(RESPONSES[self._operation] if self._operation else _assumed(self._body))
        self._body = b""


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(Stub, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    # the parent closes our standard input when it is done, or dead
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    uvloop.run(main())
