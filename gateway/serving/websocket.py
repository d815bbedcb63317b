"""WebSockets for the gateway's server: an upgraded connection, as an ASGI app sees it.

`websockets` parses and writes frames; I/O, timers and limits are ours. Nothing is compressed: a long-lived
connection would hold the memory for it, and a small message could unpack to a large one.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Mapping
from typing import Any

from starlette.types import ASGIApp
from uvicorn.server import ServerState
from websockets.datastructures import Headers
from websockets.exceptions import InvalidState
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol

_LOG = logging.getLogger("uvicorn.error")
_CLOSE_SECONDS = 5.0  # to wait for the reply to a close frame
_RESTART = 1012
_ABNORMAL = 1006
_BAD_TEXT = 1007
_INTERNAL = 1011
_SWITCHING = 101


def asks_for_websocket(method: bytes, headers: list[tuple[bytes, bytes]]) -> bool:
    upgrades = [value.lower() for name, value in headers if name == b"upgrade"]
    return method == b"GET" and upgrades == [b"websocket"]


class HardenedWebSocket(asyncio.Protocol):
    """Stops reading while the app has a message to take, and disconnects clients that do not read for too long."""

    def __init__(
        self,
        scope: dict[str, Any],
        app: ASGIApp,
        state: ServerState,
        transport: asyncio.Transport,
        *,
        message_bytes: int,
        stalled_seconds: float,
    ) -> None:
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        offered = [value for name, value in headers if name == "sec-websocket-protocol"]
        protocols = [word.strip() for value in offered for word in value.split(",")]
        self._request = Request(scope["path"], Headers(headers))
        scheme = "wss" if scope["scheme"] == "https" else "ws"
        self._scope = {**scope, "type": "websocket", "scheme": scheme, "subprotocols": protocols}
        self._app = app
        self._state = state
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._frames = ServerProtocol(state=State.OPEN, max_size=message_bytes, logger=_LOG)
        self._content = bytearray()  # of the message that is being received; frames without content take no memory
        self._text = True
        self._early = b""  # bytes that arrived before the handshake
        self._accepted = self._closing = self._lost = self._paused = False
        self._received: deque[dict[str, Any]] = deque([{"type": "websocket.connect"}])
        self._event = asyncio.Event()
        self._event.set()
        self._writable = asyncio.Event()
        self._writable.set()
        self._stalled_seconds = stalled_seconds
        self._written = 0
        self._stall_timer: asyncio.TimerHandle | None = None
        self._close_timer: asyncio.TimerHandle | None = None

    def begin(self, unread: bytes) -> None:
        """Takes over the connection; `unread` are the bytes after the request."""
        self._state.connections.add(self)  # type: ignore[arg-type]  # uvicorn knows its own protocols only
        self._transport.set_protocol(self)
        task = self._loop.create_task(self._run())
        task.add_done_callback(self._state.tasks.discard)
        self._state.tasks.add(task)
        # INVARIANT: no frame is read, and so none is answered, before the handshake.
        self._transport.pause_reading()
        self._early = unread

    async def _run(self) -> None:
        try:
            await self._app(self._scope, self._receive, self._send)
        except BaseException as error:
            _LOG.error("Exception in ASGI application\n", exc_info=error)
            self._close(_INTERNAL, "")
        else:
            self._close(1000, "")

    # called by the transport

    def data_received(self, data: bytes) -> None:
        if self._lost:
            return
        if not self._accepted:
            self._early += data
            return
        self._frames.receive_data(data)
        for event in self._frames.events_received():
            if isinstance(event, Frame):
                self._take(event)
        self._flush()
        if self._frames.parser_exc is not None:
            # it has sent why it closes, such as a message that is too long
            self._disconnect(_code(self._frames))
            self._end()

    def eof_received(self) -> None:
        self._frames.receive_eof()

    def connection_lost(self, error: Exception | None) -> None:
        self._lost = True
        self._state.connections.discard(self)
        self._disconnect(_code(self._frames))
        self._writable.set()
        for timer in (self._stall_timer, self._close_timer):
            if timer is not None:
                timer.cancel()

    def pause_writing(self) -> None:
        self._writable.clear()
        # INVARIANT: nothing is read from a client that does not read, since each ping would be answered into memory.
        self._transport.pause_reading()
        self._watch_stall()

    def resume_writing(self) -> None:
        self._writable.set()
        self._read_on()

    # called by the server

    def shutdown(self) -> None:
        self._close(_RESTART, "the gateway is about to stop; connect again")

    # frames in

    def _take(self, frame: Frame) -> None:
        match frame.opcode:
            case Opcode.TEXT | Opcode.BINARY:
                self._text, self._content = frame.opcode is Opcode.TEXT, bytearray(frame.data)
            case Opcode.CONT:
                self._content += frame.data
            case Opcode.CLOSE:
                self._closing = True  # what the app sends from now on has no receiver
                self._disconnect(_code(self._frames))
                self._flush()
                self._end()
                return
            case _:
                return  # a ping was answered
        if frame.fin:
            self._message(bytes(self._content))

    def _message(self, content: bytes) -> None:
        self._content = bytearray()
        if self._closing:
            return
        if not self._text:
            self._deliver({"type": "websocket.receive", "bytes": content})
            return
        try:
            self._deliver({"type": "websocket.receive", "text": content.decode()})
        except UnicodeDecodeError:
            self._close(_BAD_TEXT, "a text message must be UTF-8")

    def _deliver(self, message: dict[str, Any]) -> None:
        self._received.append(message)
        self._event.set()
        if not self._paused:
            self._paused = True
            self._transport.pause_reading()

    def _disconnect(self, code: int) -> None:
        if not any(message["type"] == "websocket.disconnect" for message in self._received):
            self._received.append({"type": "websocket.disconnect", "code": code})
            self._event.set()

    def _read_on(self) -> None:
        if self._accepted and not self._paused and not self._lost and self._writable.is_set():
            self._transport.resume_reading()

    async def _receive(self) -> dict[str, Any]:
        while not self._received:
            self._paused = False
            self._read_on()
            self._event.clear()
            await self._event.wait()
        message = self._received[0]
        # the disconnect is the last message, however often the app receives
        if message["type"] != "websocket.disconnect":
            self._received.popleft()
        return message

    # frames out

    async def _send(self, message: Mapping[str, Any]) -> None:
        if self._lost or self._closing:
            return
        match message["type"]:
            case "websocket.accept":
                self._accept(message.get("subprotocol"))
            case "websocket.send":
                text = message.get("text")
                if text is not None:
                    self._frames.send_text(text.encode())
                else:
                    self._frames.send_binary(message["bytes"])
                self._flush()
                await self._writable.wait()
            case "websocket.close":
                self._close(message.get("code") or 1000, message.get("reason") or "")
            case kind:
                raise RuntimeError(f"unexpected ASGI message `{kind}`")

    def _accept(self, subprotocol: str | None) -> None:
        response = ServerProtocol().accept(self._request)
        if subprotocol is not None and response.status_code == _SWITCHING:
            response.headers["Sec-WebSocket-Protocol"] = subprotocol
        self._accepted = response.status_code == _SWITCHING
        self._write(response.serialize())
        if not self._accepted:
            # a handshake without a key, or of another version
            self._disconnect(_ABNORMAL)
            self._closing = True
            self._end()
            return
        early, self._early = self._early, b""
        if early:
            self.data_received(early)
        self._read_on()

    def _close(self, code: int, reason: str) -> None:
        if self._lost or self._closing:
            return
        self._closing = True
        if not self._accepted:
            self._write(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            self._end()
            return
        try:
            self._frames.send_close(code, reason)
        except InvalidState:
            self._end()  # the client has already closed
            return
        self._flush()
        self._disconnect(code)
        # the reply to the close frame must be read
        self._paused = False
        self._read_on()
        self._close_timer = self._loop.call_later(_CLOSE_SECONDS, self._transport.abort)

    def _end(self) -> None:
        """Closes once everything is sent, unless the client stops reading it."""
        self._transport.close()
        self._watch_stall()

    def _flush(self) -> None:
        self._write(b"".join(self._frames.data_to_send()))

    def _write(self, data: bytes) -> None:
        if data and not self._transport.is_closing():
            self._written += len(data)
            self._transport.write(data)

    def _watch_stall(self) -> None:
        if self._stall_timer is None and self._transport.get_write_buffer_size():
            taken = self._written - self._transport.get_write_buffer_size()
            self._stall_timer = self._loop.call_later(self._stalled_seconds, self._end_stalled, taken)

    def _end_stalled(self, before: int) -> None:
        self._stall_timer = None
        if self._written - self._transport.get_write_buffer_size() <= before:
            self._transport.abort()
        else:
            self._watch_stall()


def _code(frames: ServerProtocol) -> int:
    closed = frames.close_rcvd or frames.close_sent
    return closed.code if closed is not None else _ABNORMAL
