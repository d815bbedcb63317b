"""A DynamoDB over HTTP for benchmarks, in a process of its own: items by key, queries as they were recorded."""

import asyncio
import sys
from pathlib import Path
from typing import Any
from zlib import crc32

import httptools
import orjson
import uvloop

Row = dict[str, Any]


def canonical(body: Row) -> bytes:
    return orjson.dumps({**body, "ReturnConsumedCapacity": ""}, option=orjson.OPT_SORT_KEYS)


class Recorded:
    def __init__(self, rows: list[Row], queries: list[tuple[Row, Row]]) -> None:
        self._rows = {(row["PK"]["S"], row["SK"]["S"]): row for row in rows}
        self._queries = {canonical(body): said for body, said in queries}

    def answer(self, operation: str, body: Row) -> Row:
        if operation == "Query":
            return self._queries[canonical(body)]
        if operation == "GetItem":
            return {"Item": self._row(body["Key"], body)}
        [(table, request)] = body["RequestItems"].items()
        return {"Responses": {table: [self._row(key, request) for key in request["Keys"]]}, "UnprocessedKeys": {}}

    def _row(self, key: Row, request: Row) -> Row:
        row = self._rows[key["PK"]["S"], key["SK"]["S"]]
        names = request.get("ExpressionAttributeNames")
        return {name: row[name] for name in names.values() if name in row} if names else row


class Replay(asyncio.Protocol):
    def __init__(self, recorded: Recorded) -> None:
        self._recorded = recorded
        self._parser = httptools.HttpRequestParser(self)
        self._operation, self._body = "", b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() == b"x-amz-target":
            self._operation = value.decode().rpartition(".")[2]

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        body, self._body = orjson.loads(self._body), b""
        content = orjson.dumps(self._recorded.answer(self._operation, body))
        head = (
            f"HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: {len(content)}\r\n"
            f"x-amzn-RequestId: REQUEST\r\nx-amz-crc32: {crc32(content)}\r\n\r\n"
        )
        self._transport.write(head.encode() + content)  # type: ignore[attr-defined]  # a stream


async def serve(content: Row) -> None:
    recorded = Recorded(content["rows"], content["queries"])
    server = await asyncio.get_running_loop().create_server(lambda: Replay(recorded), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(orjson.loads(Path(sys.argv[1]).read_bytes())))
