"""The first minute of a new user: `gateway dev` starts, prints where to go, serves a tenant and its pages, and stops.

Run as `python -m tests.first_start` from this tree, or with `--wheel` as whoever installs the package has it: the wheel
in an environment of its own and in an empty directory, with the demo and then with a domain that `gateway new` makes.
CI runs both; pytest does not, because it is about a whole process tree.
"""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gateway.sandbox.server import free_port
from tests.graphql_http import post_graphql

ROOT = Path(__file__).parents[1]
UP_WITHIN = 10.0  # seconds on an idle machine; a busy one gets more, which is printed
PATIENCE = 300.0
PAGES = ("/", "/playground", "/metrics")


def main(arguments: list[str]) -> None:
    with TemporaryDirectory() as directory:
        if arguments == ["--wheel"]:
            empty = Path(directory) / "empty"
            empty.mkdir()
            command = _installed(Path(directory))
            _try_it([str(command), "dev"], empty, "allUsers", (*PAGES, "/demo"))
            _try_own(command, empty)
        else:
            _try_it([sys.executable, "-m", "gateway", "dev"], ROOT, "allUsers", (*PAGES, "/demo"))


def _try_own(command: Path, empty: Path) -> None:
    """A domain of one's own: made, tested, checked and served, with nothing but the wheel."""
    subprocess.run([command, "new", "clinic"], cwd=empty, check=True, timeout=PATIENCE)
    for arguments in (["policies", "--check"], ["schema", "--check"], ["terraform-inputs", "--check"]):
        subprocess.run([command, *arguments], cwd=empty / "clinic", check=True, timeout=PATIENCE)
    subprocess.run([command.parent / "pytest", "-q"], cwd=empty / "clinic", check=True, timeout=PATIENCE)
    _try_it([str(command), "dev"], empty / "clinic", "notesByStatus", PAGES, _reload)


def _reload(project: Path, token: str, port: int) -> None:
    """A change of the package restarts the gateway, and the rows stay."""
    source = project / "clinic" / "note.py"
    source.write_text(source.read_text().replace('"What to remember."', '"What not to forget."'))
    text = '{ __type(name: "Note") { fields { description } } notesByStatus(status: OPEN) { nodes { noteId } } }'
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            data = _query(token, port, text)
        except OSError:
            data = {}
        if "What not to forget." in json.dumps(data) and data["notesByStatus"]["nodes"]:
            return
        time.sleep(0.2)
    sys.exit("a change of the domain was not served")


def _installed(directory: Path) -> Path:
    """The command of the built wheel, with the versions that are locked."""
    uv, venv = [sys.executable, "-m", "uv", "--quiet"], directory / "venv"
    subprocess.run([*uv, "build", "--wheel", "--out-dir", directory, ROOT], check=True)
    [wheel] = directory.glob("*.whl")
    subprocess.run([*uv, "venv", "--python", sys.executable, venv], check=True)
    locked = ["--constraint", str(ROOT / "requirements-dev.lock")]
    python = ["--python", str(venv / "bin" / "python")]
    subprocess.run([*uv, "pip", "install", *python, *locked, f"{wheel}[testing]"], check=True)
    return venv / "bin" / "gateway"


def _try_it(
    command: list[str],
    directory: Path,
    field: str,
    pages: tuple[str, ...],
    also: Callable[[Path, str, int], None] = lambda directory, token, port: None,
) -> None:
    """`field` is the one that the first query reads, `also` what else to do with the running gateway."""
    port, aws_port = free_port(0), free_port(0)
    started = time.monotonic()
    with _running([*command, "--port", str(port), "--aws-port", str(aws_port)], directory) as process:
        said = _until_up(process)
        took = time.monotonic() - started
        token = _run_banner_query(said, port, field)
        for page in pages:
            urllib.request.urlopen(f"http://127.0.0.1:{port}{page}", timeout=PATIENCE).close()
        also(directory, token, port)
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
    if process.returncode != 0:
        sys.exit(f"gateway dev ended with {process.returncode}")
    print(f"up in {took:.1f} s (aim: {UP_WITHIN:.0f} s on an idle machine), served acme, stopped cleanly")


@contextmanager
def _running(command: list[str], directory: Path) -> Iterator["subprocess.Popen[str]"]:
    """Ended after the block, and also where it says nothing for too long."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with subprocess.Popen(
        command, cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        late = threading.Timer(PATIENCE, process.terminate)
        late.start()
        try:
            yield process
        finally:
            late.cancel()
            process.terminate()


def _until_up(process: "subprocess.Popen[str]") -> str:
    lines: list[str] = []
    assert process.stdout is not None
    for line in process.stdout:
        lines.append(line)
        if "Stop with Ctrl-C" in line:
            return "".join(lines)
    sys.exit("gateway dev did not start:\n" + "".join(lines))


def _run_banner_query(said: str, port: int, field: str) -> str:
    """Sends the query of the banner with its token, which it returns."""
    found = re.search(r"^eyJ[\w-]+\.[\w-]+\.[\w-]+$", said, re.MULTILINE)
    query = re.search(r"""-d '(\{"query": .*\})'$""", said, re.MULTILINE)
    if found is None or query is None:
        sys.exit("no token or no query was printed:\n" + said)
    data = _query(found[0], port, json.loads(query[1])["query"])
    if not data[field]["nodes"]:
        sys.exit(f"acme was not served: {data}")
    return found[0]


def _query(token: str, port: int, query: str) -> Any:
    content = post_graphql(f"http://127.0.0.1:{port}/graphql", token, query, seconds=PATIENCE)
    if "errors" in content:
        sys.exit(f"the query failed: {content}")
    return content["data"]


if __name__ == "__main__":
    main(sys.argv[1:])
