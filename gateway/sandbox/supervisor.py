"""The gateway as a child process: started with its settings, waited for, started anew when its code changes."""

import http.client
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from gateway.errors import ConfigurationError, Unavailable
from gateway.sandbox.sandbox import Child

_TICK_SECONDS = 0.2
_START_SECONDS = 180.0
_ANSWER_SECONDS = 2.0


def until_healthy(child: Child, host: str, port: int, seconds: float = _START_SECONDS) -> None:
    end = time.monotonic() + seconds
    while not _healthy(host, port):
        if child.process.poll() is not None:
            raise Unavailable("the gateway did not start; what it said stands above")
        if time.monotonic() > end:
            raise Unavailable(f"the gateway did not answer within {seconds:g} seconds")
        time.sleep(_TICK_SECONDS)


def supervise(child: Child, start: Callable[[], Child], changes: Iterable[bool], *, reload: bool) -> int:
    """Runs until the gateway ends by itself; its exit code. With `reload` it is started again at the next change."""
    try:
        for changed in changes:
            if changed:
                child.stop()
                child = start()
            elif not reload and child.process.poll() is not None:
                break
    finally:
        child.stop()
    return child.process.returncode


def ticks() -> Iterator[bool]:
    while True:
        time.sleep(_TICK_SECONDS)
        yield False


def changes_under(directory: Path) -> Iterator[bool]:
    """True when Python files change, false from time to time; needs `watchfiles`, which is for development only."""
    try:
        from watchfiles import PythonFilter, watch  # noqa: PLC0415
    except ImportError as error:
        raise ConfigurationError(["--reload needs the package watchfiles: pip install watchfiles"]) from error
    found = watch(directory, watch_filter=PythonFilter(), rust_timeout=500, yield_on_timeout=True)
    return (bool(changes) for changes in found)


def _healthy(host: str, port: int) -> bool:
    connection = http.client.HTTPConnection(host, port, timeout=_ANSWER_SECONDS)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
