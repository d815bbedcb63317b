"""The process of the sandbox: prints one line of JSON with its address, then serves until it is stopped."""

import argparse
import asyncio
import gc
import json
import logging
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from gateway.errors import GatewayError
from gateway.sandbox.assembly import build, engine_for
from gateway.sandbox.ready import DEFAULT_PORT, Options, Ready, to_line
from gateway.sandbox.server import Server, address_of, listen

Serving = Callable[[Server], None]


def main(arguments: list[str]) -> int:
    options = options_from(arguments)
    logging.basicConfig(level=logging.WARNING, format="sandbox: %(message)s")
    # the sandbox logs why it denies a request; moto's own log lines are noise
    logging.getLogger("gateway.sandbox").setLevel(options.log)
    # what is created at start lives as long as the process: looking for garbage in it takes a quarter of the time
    gc.disable()
    try:
        asyncio.run(run(options, _announce, _stop_on_signals))
    except (GatewayError, OSError) as error:
        _say(json.dumps({"error": str(error)}))
        return 1
    return 0


async def run(options: Options, announce: Callable[[Ready], None], serving: Serving) -> None:
    with listen(options.port) as listening:
        engine = engine_for(options)
        try:
            assembly = await build(options, engine, address_of(listening))
            server = Server(assembly.app, lambda: announce(assembly.ready))
            serving(server)
            await server.serve([listening])
        finally:
            await engine.close()


def _stop_on_signals(server: Server) -> None:
    def stop(number: int, frame: object) -> None:
        server.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)


def options_from(arguments: list[str]) -> Options:
    parser = argparse.ArgumentParser(prog="python -m gateway.sandbox", description=__doc__)
    defaults = Options()
    parser.add_argument("--port", type=int, default=DEFAULT_PORT)
    parser.add_argument("--dynamodb-endpoint")
    parser.add_argument("--policies", type=Path)
    parser.add_argument("--domains", action="append", default=[])
    for name in ("table", "region", "account", "log"):
        parser.add_argument(f"--{name}", default=getattr(defaults, name))
    values = vars(parser.parse_args(arguments))
    return Options(**{**values, "domains": tuple(values["domains"])})


def _announce(ready: Ready) -> None:
    gc.freeze()
    gc.enable()
    _say(to_line(ready))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
