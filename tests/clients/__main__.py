"""Runs every client against a sandbox: `python -m tests.clients`, after `scripts/clients` has installed them."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gateway.cli.dev import aws_variables
from gateway.sandbox.dev.supervisor import until_healthy
from gateway.sandbox.ready import Options
from gateway.sandbox.sandbox import Child, Sandbox
from gateway.sandbox.server import HOST, free_port
from gateway.settings import environment_with

HERE = Path(__file__).parent
GQL = HERE.parents[1] / ".clients" / "gql" / "bin" / "python"
# written by scripts/clients when all is there
INSTALLED = (HERE / "node_modules" / ".installed", GQL.parents[1] / ".installed")
MANIFEST = HERE / "generated" / "manifest.json"
CLIENTS = {
    "audit": ("node", "audit.mjs"),
    "Apollo Client": ("node", "apollo.mjs"),
    "urql": ("node", "urql.mjs"),
    "Relay": ("node", "relay.mjs"),
    "codegen": ("node", "codegen.mjs"),
    "subscriptions": ("node", "subscriptions.mjs"),
    "gql": (str(GQL), "gql_client.py"),
}
_FIRST_PORT = 8420
_SECONDS = 300


@contextmanager
def gateway(sandbox: Sandbox, **changes: Any) -> Iterator[str]:
    """The address of a gateway on the sandbox."""
    port = free_port(_FIRST_PORT)
    settings = sandbox.settings(port=port, log_level="WARNING", **changes)
    child = Child("gateway", "serve", environment=environment_with(settings, aws_variables(sandbox)))
    try:
        until_healthy(child, HOST, port)
        yield f"http://{HOST}:{port}/graphql"
    finally:
        child.stop()


def run(name: str, *command: str, **variables: str) -> bool:
    started = time.monotonic()
    try:
        done = subprocess.run(command, cwd=HERE, env={**os.environ, **variables}, timeout=_SECONDS, check=False)
        passed = done.returncode == 0
    except (OSError, subprocess.TimeoutExpired) as error:
        print(error, file=sys.stderr)
        passed = False
    print(f"{'ok    ' if passed else 'FAILED'} {name} ({time.monotonic() - started:.1f} s)", flush=True)
    return passed


def main() -> int:
    if not all(mark.is_file() for mark in INSTALLED):
        print("\n*** the clients are not installed: run scripts/clients; NOTHING WAS TESTED\n", file=sys.stderr)
        return 1 if os.environ.get("CI") == "true" else 0
    if not run("relay-compiler, codegen and tsc", "node", "prepare.mjs"):
        return 1
    with (
        Sandbox(Options(port=free_port(_FIRST_PORT))) as sandbox,
        gateway(sandbox, stream="inside", stream_role_arn=sandbox.ready.stream_role_arn) as url,
        gateway(sandbox, trusted_documents=MANIFEST, trusted_documents_only=True, playground=False) as trusted,
    ):
        addresses = {
            "GATEWAY_URL": url,
            "TRUSTED_GATEWAY_URL": trusted,
            "ISSUER_URL": f"{sandbox.ready.issuer}/token",
        }
        failed = [name for name, command in CLIENTS.items() if not run(name, *command, **addresses)]
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
