"""The first minute of a new user: `gateway dev` starts, prints where to go, serves a tenant and its pages, and stops.

Run as `python -m tests.first_start` from this tree, or with `--wheel` as whoever installs the package has it: the wheel
in an environment of its own and in an empty directory. CI runs both; pytest does not, because it is about a whole
process tree.
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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from gateway.sandbox.server import free_port

ROOT = Path(__file__).parents[1]
UP_WITHIN = 10.0  # seconds on an idle machine; a busy one is given more, and told
PATIENCE = 300.0
PAGES = ("/", "/playground", "/demo", "/metrics")


def main(arguments: list[str]) -> None:
    with TemporaryDirectory() as directory:
        if arguments == ["--wheel"]:
            empty = Path(directory) / "empty"
            empty.mkdir()
            _try_it([str(_installed(Path(directory))), "dev"], empty)
        else:
            _try_it([sys.executable, "-m", "gateway", "dev"], ROOT)


def _installed(directory: Path) -> Path:
    """The command of the built wheel, with the versions that are locked."""
    uv, venv = [sys.executable, "-m", "uv", "--quiet"], directory / "venv"
    subprocess.run([*uv, "build", "--wheel", "--out-dir", directory, ROOT], check=True)
    [wheel] = directory.glob("*.whl")
    subprocess.run([*uv, "venv", "--python", sys.executable, venv], check=True)
    locked = ["--constraint", str(ROOT / "requirements-dev.lock")]
    python = ["--python", str(venv / "bin" / "python")]
    subprocess.run([*uv, "pip", "install", *python, *locked, f"{wheel}[sandbox]"], check=True)
    return venv / "bin" / "gateway"


def _try_it(command: list[str], directory: Path) -> None:
    port, aws_port = free_port(0), free_port(0)
    started = time.monotonic()
    with _running([*command, "--port", str(port), "--aws-port", str(aws_port)], directory) as process:
        said = _until_up(process)
        took = time.monotonic() - started
        _ask(said, port)
        for page in PAGES:
            urllib.request.urlopen(f"http://127.0.0.1:{port}{page}", timeout=PATIENCE).close()
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


def _ask(said: str, port: int) -> None:
    found = re.search(r"^eyJ[\w-]+\.[\w-]+\.[\w-]+$", said, re.MULTILINE)
    if found is None:
        sys.exit("no token was printed:\n" + said)
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/graphql",
        json.dumps({"query": "{ activeOrders(first: 3) { nodes { orderId user { name } } } }"}).encode(),
        {"Authorization": f"Bearer {found[0]}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=PATIENCE) as response:
        content = json.load(response)
    if "errors" in content or not content["data"]["activeOrders"]["nodes"]:
        sys.exit(f"acme was not served: {content}")


if __name__ == "__main__":
    main(sys.argv[1:])
