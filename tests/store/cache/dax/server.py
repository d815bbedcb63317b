"""A DAX node in this process: enough of its wire protocol (CBOR over TCP) for Amazon's own client.

It understands the greeting, authorisation, endpoints, key schemas, GetItem, BatchGetItem and Query, answers from the
table in memory, and fails on demand: by an error, by silence, or by hanging up.
"""

import base64
import socket
import socketserver
import threading
from collections import Counter
from importlib import import_module
from typing import Any, Literal

from gateway.testing.memory import Memory

Trouble = Literal["error", "silence", "hang up", "foreign row"]

_MAGIC = b"gJ7yne5G"
_AUTHORISE, _ENDPOINTS, _KEY_SCHEMA = 1489122155, 455855874, -742646399
_GET, _BATCH_GET, _QUERY = 263244906, -697851100, -931250863
# parameters of a request
_PROJECTION, _NAMES, _STRONG, _VALUES, _START, _INDEX, _LIMIT, _FORWARD = 0, 1, 2, 5, 9, 11, 13, 14
# parts of an answer
_ITEM, _CAPACITY, _ITEMS, _COUNT, _LAST, _SCANNED = 0, 1, 7, 8, 9, 10
_COMPARED = {0: "{} = {}", 3: "{} >= {}", 5: "{} <= {}", 9: "{} BETWEEN {} AND {}", 14: "begins_with({}, {})"}


def _part(name: str) -> Any:
    return getattr(import_module(f"amazondax.{name}"), name)


class DaxNode:
    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.trouble: Trouble | None = None
        self.spoken = threading.Event()  # ends a silence
        self.calls: Counter[str] = Counter()
        self.signed_by: set[str] = set()
        self.strong: list[bool] = []
        node = self

        class Connection(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                _Connection(node, self.request).serve()

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads, allow_reuse_address = True, True

        self._server = Server(("127.0.0.1", 0), Connection)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def endpoint(self) -> str:
        return f"dax://127.0.0.1:{self.port}"

    def stop(self) -> None:
        self.spoken.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Connection:
    def __init__(self, node: DaxNode, connection: socket.socket) -> None:
        self._node = node
        self._socket = connection
        self._in: Any = None
        self._out: Any = None

    def serve(self) -> None:
        no_more = import_module("amazondax.CborDecoder").NoMoreData
        try:
            self._greeted()
            while self._in.decode_int() == 1:
                self._served(self._in.decode_int())
        except (no_more, OSError):
            return

    def _greeted(self) -> None:
        greeting = b""
        while len(greeting) < len(_MAGIC):
            more = self._socket.recv(len(_MAGIC) - len(greeting))
            if not more:
                raise ConnectionError("hung up")
            greeting += more
        assert greeting == _MAGIC
        self._in = _part("DaxCborDecoder")(self._more)
        self._in.decode_int()
        self._in.decode_object()
        assert "UserAgent" in self._in.decode_map()
        self._in.decode_int()

    def _more(self, buffer: bytearray, count: int) -> int:
        more = self._socket.recv(max(count, 4_096))
        buffer += more
        return len(more) or -1

    def _served(self, method: int) -> None:
        if method == _AUTHORISE:
            # an answer comes only where it is refused
            self._node.signed_by.add(self._in.decode_object())
            for _ in range(4):
                self._in.decode_object()
            return
        self._out = _part("CborEncoder")()
        answer = {
            _ENDPOINTS: self._endpoints,
            _KEY_SCHEMA: self._key_schema,
            _GET: self._get,
            _BATCH_GET: self._batch_get,
            _QUERY: self._query,
        }[method]
        self._out.append_array_header(0)
        answer()
        match self._node.trouble if method in (_GET, _BATCH_GET, _QUERY) else None:
            case "silence":
                self._node.spoken.wait(5)
            case "hang up":
                self._socket.close()
            case "error":
                self._out = _part("CborEncoder")()
                self._out.append_array_header(3)
                for code in (4, 37, 38):
                    self._out.append_int(code)
                self._out.append_string("something broke")
                self._out.append_null()
        self._socket.sendall(self._out.as_bytes())

    def _endpoints(self) -> None:
        self._out.append_array_header(1)
        self._out.append_map_header(7)
        for number, write, value in (
            (0, self._out.append_int, 1),
            (1, self._out.append_string, "127.0.0.1"),
            (2, self._out.append_binary, socket.inet_aton("127.0.0.1")),
            (3, self._out.append_int, self._node.port),
            (4, self._out.append_int, 1),
            (5, self._out.append_string, "here"),
            (6, self._out.append_int, 1),
        ):
            self._out.append_int(number)
            write(value)

    def _key_schema(self) -> None:
        self._in.decode_object()
        self._out.append_map_header(2)
        for name in (self._node.memory.spec.pk, self._node.memory.spec.sk):
            self._out.append_string(name)
            self._out.append_string("S")

    def _get(self) -> None:
        table, key = self._in.decode_binary().decode(), self._key(self._in.decode_binary())
        given = self._given()
        body = {"TableName": table, "Key": key, "ConsistentRead": bool(given.get(_STRONG)), **_projection(given)}
        answer = self._call("GetItem", body)
        row = answer.get("Item")
        self._out.append_map_header(2 if row is not None else 1)
        if row is not None:
            self._out.append_int(_ITEM)
            self._row(self._foreign(row), _projected(given[_PROJECTION]))
        self._out.append_int(_CAPACITY)
        self._capacity(answer["ConsumedCapacity"])

    def _batch_get(self) -> None:
        [(table, (strong, projection, keys))] = self._in.decode_map().items()
        self._in.decode_object()
        names = _projected(projection)
        request = {"Keys": [self._key(key) for key in keys], "ConsistentRead": strong, **_aliased(names)}
        answer = self._call("BatchGetItem", {"RequestItems": {table: request}})
        rows = answer["Responses"][table]
        self._out.append_array_header(2)
        self._out.append_map_header(1)
        self._out.append_string(table)
        self._out.append_array_header(len(rows))
        for row in rows:
            self._row(self._foreign(row), names)
        self._out.append_map_header(0)
        self._out.append_array_header(1)
        self._capacity(answer["ConsumedCapacity"][0])

    def _query(self) -> None:
        table, condition = self._in.decode_binary().decode(), _decoded(self._in.decode_binary())
        given = self._given()
        names = _projected(given[_PROJECTION])
        projection = _aliased(names)
        aliases = {**projection["ExpressionAttributeNames"], **_key_names(given[_NAMES])}
        body: dict[str, Any] = {
            "TableName": table,
            **projection,
            "KeyConditionExpression": _condition(condition[1], given[_NAMES], given[_VALUES], condition[2]),
            "ExpressionAttributeNames": aliases,
            "ExpressionAttributeValues": {name: {"S": value} for name, value in given[_VALUES].items()},
            "Limit": given[_LIMIT],
            "ScanIndexForward": bool(given[_FORWARD]),
        }
        if _INDEX in given:
            body["IndexName"] = given[_INDEX].decode()
        if _START in given:
            start = given[_START]
            body["ExclusiveStartKey"] = (
                {name: {"S": value} for name, value in _decoded(start).items()} if _INDEX in given else self._key(start)
            )
        answer = self._call("Query", body)
        self._pages(answer, names, by_index=_INDEX in given)

    def _pages(self, answer: dict[str, Any], names: list[str], *, by_index: bool) -> None:
        last = answer.get("LastEvaluatedKey")
        self._out.append_map_header(4 if last is None else 5)
        self._out.append_int(_ITEMS)
        self._out.append_array_header(len(answer["Items"]))
        for row in answer["Items"]:
            self._row(self._foreign(row), names)
        for number in (_COUNT, _SCANNED):
            self._out.append_int(number)
            self._out.append_int(answer["Count"])
        if last is not None:
            self._out.append_int(_LAST)
            self._out.append_binary(_compound(last) if by_index else self._key_bytes(last))
        self._out.append_int(_CAPACITY)
        self._capacity(answer["ConsumedCapacity"])

    def _call(self, operation: str, body: dict[str, Any]) -> dict[str, Any]:
        self._node.calls[operation] += 1
        request = next(iter(body.get("RequestItems", {"": body}).values()))
        self._node.strong.append(bool(request.get("ConsistentRead")))
        body.setdefault("ConsistentRead", False)
        if "IndexName" in body:
            del body["ConsistentRead"]
        return self._node.memory._operations()[operation](body)

    def _foreign(self, row: dict[str, Any]) -> dict[str, Any]:
        if self._node.trouble != "foreign row":
            return row
        pk = self._node.memory.spec.pk
        return {**row, pk: {"S": row[pk]["S"].replace("TENANT#acme#", "TENANT#globex#")}}

    def _given(self) -> dict[int, Any]:
        found: dict[int, Any] = self._in.decode_object() or {}
        return found

    def _key(self, key: bytes) -> dict[str, Any]:
        decoder = _nested(key)
        pk = decoder.decode_string()
        spec = self._node.memory.spec
        return {spec.pk: {"S": pk}, spec.sk: {"S": decoder.drain().decode()}}

    def _key_bytes(self, key: dict[str, Any]) -> bytes:
        encoder = _part("CborEncoder")()
        encoder.append_string(key[self._node.memory.spec.pk]["S"])
        encoder.append_raw(key[self._node.memory.spec.sk]["S"].encode())
        made: bytes = encoder.as_bytes()
        return made

    def _row(self, row: dict[str, Any], names: list[str]) -> None:
        self._out.append_map_header(sum(name in row for name in names))
        for ordinal, name in enumerate(names):
            if name in row:
                self._out.append_int(ordinal)
                self._out.append_raw(_attribute(row[name]))

    def _capacity(self, consumed: dict[str, Any]) -> None:
        encoder = _part("CborEncoder")()
        encoder.append_string(consumed["TableName"])
        encoder.append_float(float(consumed["CapacityUnits"]))
        for _ in range(3):
            encoder.append_null()
        self._out.append_binary(encoder.as_bytes())


def _nested(content: bytes) -> Any:
    left = bytearray(content)

    def more(buffer: bytearray, size: int) -> int:
        count = len(left)
        buffer += left
        left.clear()
        return count or -1

    return _part("DaxCborDecoder")(more)


def _decoded(content: bytes) -> Any:
    return _nested(content).decode_object()


def _attribute(value: dict[str, Any]) -> bytes:
    plain = {"B": base64.b64decode(value["B"])} if "B" in value else value
    made: bytes = import_module("amazondax.AttributeValueEncoder").encode_attribute_value(plain)
    return made


def _compound(key: dict[str, Any]) -> bytes:
    made: bytes = import_module("amazondax.AttributeValueEncoder").encode_compound_key(key)
    return made


def _projected(expression: bytes) -> list[str]:
    """The names of a projection: `[format, [[path, name], ...]]`."""
    return [path[1] for path in _decoded(expression)[1]]


def _aliased(names: list[str]) -> dict[str, Any]:
    aliases = {f"#{position}": name for position, name in enumerate(names)}
    return {"ProjectionExpression": ",".join(aliases), "ExpressionAttributeNames": aliases}


def _projection(given: dict[int, Any]) -> dict[str, Any]:
    return _aliased(_projected(given[_PROJECTION]))


def _key_names(names: dict[str, str]) -> dict[str, str]:
    return {alias: name for alias, name in names.items() if alias in ("#pk", "#sk")}


def _condition(expression: list[Any], names: dict[str, str], values: dict[str, Any], order: list[Any]) -> str:
    """A condition as text again; a variable is a number in the order of its first use."""
    by_name = {name: alias for alias, name in names.items() if alias in ("#pk", "#sk")}
    function, *arguments = expression
    if function == 6:
        return " AND ".join(_condition(each, names, values, order) for each in arguments)
    variables = {position: name for position, value in enumerate(order) for name in values if values[name] == value}
    texts = [by_name[each[1]] if each[0] == 18 else variables[each[1]] for each in arguments]
    return _COMPARED[function].format(*texts)
