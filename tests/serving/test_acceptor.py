"""A busy loop has few turns: a waiting connection is accepted within a handful of them."""

import asyncio
import errno
import socket
from contextlib import ExitStack, closing
from functools import partial
from typing import Any

import pytest
import uvicorn
import uvloop
from starlette.responses import PlainTextResponse

from gateway.app import State
from gateway.serving.acceptor import AT_ONCE_SHARED, Acceptor
from gateway.serving.serve import DrainingServer

STRANGERS = 40
FEW_TURNS = 15


async def _started() -> DrainingServer:
    app = PlainTextResponse("hello")
    config = uvicorn.Config(app, port=0, lifespan="off", log_config=None, access_log=False, http="httptools", ws="none")
    config.load()
    server = DrainingServer(config, State(), 0)
    server.lifespan = config.lifespan_class(config)
    await server.startup()
    return server


async def _turns_until_all_are_in(server: DrainingServer, strangers: ExitStack) -> int:
    address = server.servers[0].sockets[0].getsockname()
    for _ in range(STRANGERS):
        # the system finishes it, whether anybody accepts or not
        strangers.enter_context(socket.create_connection(address))
    turns = 0
    while len(server.server_state.connections) < STRANGERS:
        await asyncio.sleep(0)
        turns += 1
    return turns


def test_all_who_wait_are_let_in_together() -> None:
    async def run() -> int:
        server = await _started()
        with ExitStack() as strangers:
            turns = await _turns_until_all_are_in(server, strangers)
        await server.shutdown()
        return turns

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(run()) <= FEW_TURNS


def test_processes_that_share_a_listener_share_its_connections() -> None:
    async def run() -> list[int]:
        counts = [0, 0]

        def protocol(process: int) -> asyncio.Protocol:
            counts[process] += 1
            return asyncio.Protocol()

        with socket.create_server(("127.0.0.1", 0), backlog=STRANGERS) as listening, ExitStack() as strangers:
            for _ in range(STRANGERS):
                strangers.enter_context(socket.create_connection(listening.getsockname()))
            for process in range(2):
                strangers.enter_context(closing(Acceptor([listening], partial(protocol, process), AT_ONCE_SHARED)))
            while sum(counts) < STRANGERS:  # noqa: ASYNC110  it tells nobody
                await asyncio.sleep(0)
        return counts

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert min(runner.run(run())) >= STRANGERS // 4


def test_after_the_stop_nobody_is_let_in() -> None:
    async def run() -> tuple[str, int]:
        server = await _started()
        address: tuple[str, int] = server.servers[0].sockets[0].getsockname()
        await server.shutdown()
        return address

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        address = runner.run(run())
    with socket.socket() as late:
        assert late.connect_ex(address) != 0


def test_without_descriptors_the_listener_pauses_and_accepts_again(monkeypatch: pytest.MonkeyPatch) -> None:
    class Exhausted(socket.socket):
        accepts = 0

        def accept(self) -> tuple[socket.socket, Any]:
            type(self).accepts += 1
            raise OSError(errno.EMFILE, "too many open files")

    async def run() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening, monkeypatch.context() as changed:
            changed.setattr(socket, "socket", Exhausted)
            acceptor = Acceptor([listening], asyncio.Protocol)
            changed.undo()
            changed.setattr("gateway.serving.acceptor._REST_SECONDS", 0.5)
            with socket.create_connection(listening.getsockname()), closing(acceptor):
                for times in (1, 2):
                    while Exhausted.accepts < times:  # noqa: ASYNC110  it tells nobody
                        await asyncio.sleep(0.01)
                    for _ in range(20):
                        await asyncio.sleep(0)
                    assert Exhausted.accepts == times, "it was asked in every turn"

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run())
