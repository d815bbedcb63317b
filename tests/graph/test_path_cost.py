"""The request path does not creep back: Python calls of a warm request, files that it enters, and steps between them.

These are counts and no times, so they are the same on every machine. Newer Pythons inline comprehensions and need
fewer. To see what a request does, run `python -m tests.graph.path_trace`. To lower a bound: make the path shorter, run
that, and set the bound a few per cent above what it prints (Python 3.11). A bound goes up only for a feature that is
worth it, in the same commit and with the reason.
"""

import subprocess
import sys
from typing import Any

import orjson
import pytest

from tests.graph.path_trace import report

pytestmark = pytest.mark.usefixtures("threads")

# operation: all Python calls of the process, and those of functions in gateway/
CALLS = {"get": (80, 63), "main": (134, 105), "lines": (207, 155), "mutation": (306, 282)}
# operation: files of gateway/ that it enters, and how often one of them calls into another.
FILES = {"get": (20, 27), "main": (22, 37), "lines": (22, 49), "mutation": (55, 134)}


@pytest.fixture(scope="module")
def measured() -> Any:
    """In a process of its own: neither the log of the tests nor what other tests leave behind is counted."""
    command = [sys.executable, "-m", "tests.graph.path_trace", "--json"]
    done = subprocess.run(command, check=False, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    found = orjson.loads(done.stdout)
    print(report(found))
    return found


@pytest.mark.parametrize("operation", CALLS)
def test_a_warm_request_makes_no_more_python_calls_than_it_needs(measured: Any, operation: str) -> None:
    calls, own_calls = CALLS[operation]
    assert measured[operation]["calls"] <= calls
    assert measured[operation]["own_calls"] <= own_calls


@pytest.mark.parametrize("operation", FILES)
def test_a_warm_request_enters_few_files_and_does_not_jump_between_them(measured: Any, operation: str) -> None:
    files, crossings = FILES[operation]
    assert len(measured[operation]["files"]) <= files, measured[operation]["files"]
    assert measured[operation]["crossings"] <= crossings


@pytest.mark.parametrize("operation", CALLS)
def test_what_is_counted_is_the_whole_path(measured: Any, operation: str) -> None:
    """From the token to the socket; a query in its lane, or the count would be of something else."""
    files = measured[operation]["files"]
    assert {"graph", "store", "iam", "aws"} <= {file.partition("/")[0] for file in files}
    in_lane = any(file.startswith("graph/query/lane/") for file in files)
    assert in_lane is (operation != "mutation")
    assert ("graph/query/reference/executor.py" in files) is (operation == "mutation")


def test_one_exchange_with_dynamodb_is_short(measured: Any) -> None:
    """Caller, client, pool, signer, connection; the engine here sends head and body apart, which costs one call."""
    wire = {file: count for file, count in measured["get"]["files"].items() if file.startswith("aws/")}
    assert len(wire) <= 5, wire
    assert sum(wire.values()) <= 12, wire
