"""The first minute of a new user: `gateway dev` starts, prints where to go, serves a tenant and stops cleanly.

Run as `python -m tests.first_start`; it is part of CI and not of pytest, because it is about a whole process tree.
"""

import json
import re
import signal
import subprocess
import sys
import time
import urllib.request

from gateway.sandbox.server import free_port

UP_WITHIN = 10.0  # seconds on an idle machine; a busy one is given more, and told
PATIENCE = 60.0


def main() -> None:
    port, aws_port = free_port(0), free_port(0)
    started = time.monotonic()
    command = [sys.executable, "-m", "gateway", "dev", "--port", str(port), "--aws-port", str(aws_port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            said = _until_up(process)
            took = time.monotonic() - started
            _ask(said, port)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE)
    if process.returncode != 0:
        sys.exit(f"gateway dev ended with {process.returncode}")
    print(f"up in {took:.1f} s (aim: {UP_WITHIN:.0f} s on an idle machine), served acme, stopped cleanly")


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
    main()
