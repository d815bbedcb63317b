"""Runs the gateway as a child process and restarts it when its code changes."""

import http.client
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from itertools import chain, repeat
from pathlib import Path

from gateway.errors import ConfigurationError, Unavailable
from gateway.sandbox.sandbox import Child

_TICK_SECONDS = 0.2
_START_SECONDS = 180.0
_ANSWER_SECONDS = 2.0
# the sandbox was made from the code as it was, and a restart would lose what was written meanwhile
_RESTARTING = (
    "the code has changed: restarting the gateway",
    "(table, roles and rows stay: after a new index, role or required attribute, start `gateway dev` again)",
)


def until_healthy(child: Child, host: str, port: int, seconds: float = _START_SECONDS) -> None:
    end = time.monotonic() + seconds
    while not _healthy(host, port):
        if child.process.poll() is not None:
            raise Unavailable("the gateway did not start; see its output above")
        if time.monotonic() > end:
            raise Unavailable(f"the gateway did not answer within {seconds:g} seconds")
        time.sleep(_TICK_SECONDS)


def supervise(
    child: Child, start: Callable[[], Child], changes: Iterable[bool], report: Callable[[str], None], *, reload: bool
) -> int:
    """Runs until the gateway ends and returns its exit code. With `reload` it is restarted at every change."""
    ended = False
    try:
        for changed in changes:
            if changed:
                report(" ".join(_RESTARTING))
                child.stop()
                child, ended = start(), False
            elif not ended and child.process.poll() is not None:
                if not reload:
                    break
                ended = True
                report("the gateway has ended; the next change of the code starts it again")
    finally:
        child.stop()
    return child.process.returncode


def ticks() -> Iterator[bool]:
    while True:
        time.sleep(_TICK_SECONDS)
        yield False


def changes_under(*paths: Path) -> Iterator[bool]:
    """Yields true when Python files change, else false at intervals; needs `watchfiles`, a development dependency."""
    try:
        from watchfiles import PythonFilter, watch  # noqa: PLC0415
    except ImportError as error:
        raise ConfigurationError(
            ["--reload needs watchfiles: pip install 'tenant-graphql-gateway[sandbox]'"]
        ) from error

    def watched() -> Iterator[bool]:
        for changes in watch(*paths, watch_filter=PythonFilter(), rust_timeout=500, yield_on_timeout=True):
            yield bool(changes)
            if changes and any(path.is_file() for path in paths):
                return  # an editor that replaces a file ends the watch on it

    return chain.from_iterable(watched() for _ in repeat(None))


def sources_of(domains: Iterable[str]) -> set[Path]:
    """The directories or files of the top-level packages of these modules."""
    specs = (find_spec(name.partition(".")[0]) for name in domains)
    sources: set[Path] = set()
    for spec in specs:
        if spec is not None and spec.submodule_search_locations:
            sources |= {Path(directory) for directory in spec.submodule_search_locations}
        elif spec is not None and spec.origin is not None:
            sources.add(Path(spec.origin))
    return sources


def _healthy(host: str, port: int) -> bool:
    connection = http.client.HTTPConnection(host, port, timeout=_ANSWER_SECONDS)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
