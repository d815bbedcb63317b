"""The import of the README, with fewer rows: `gateway dev` runs, and `gateway import` sends it a file."""

import json
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.patients import write

GATEWAY = (sys.executable, "-m", "gateway")


@pytest.fixture
def ports() -> Iterator[list[str]]:
    with socket.socket() as one, socket.socket() as other:
        for each in (one, other):
            each.bind(("127.0.0.1", 0))
        found = [str(each.getsockname()[1]) for each in (one, other)]
    command = (*GATEWAY, "dev", "--no-reload", "--port", found[0], "--aws-port", found[1])
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        try:
            assert any("Stop with Ctrl-C" in line for line in running.stdout), "it has ended"
            yield found
        finally:
            running.terminate()


def token_command(ports: list[str], role: str) -> str:
    return f"{' '.join(GATEWAY)} token --tenant acme --role {role} --url http://127.0.0.1:{ports[1]}"


def ask(ports: list[str], query: str) -> dict[str, Any]:
    token = subprocess.run(token_command(ports, "viewer").split(), capture_output=True, text=True, check=True).stdout
    headers = {"Authorization": f"Bearer {token.strip()}", "Content-Type": "application/json"}
    body = json.dumps({"query": query}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{ports[0]}/graphql", body, headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        return dict(json.load(response)["data"])


def test_patients_are_imported_and_wrong_rows_are_kept(tmp_path: Path, ports: list[str]) -> None:
    source = tmp_path / "patients.csv"
    with source.open("w") as file:
        write(150, file)
        file.write("i-x,Nobody,yesterday,\ni-y,Somebody,1990-01-01,i-7@example.org\n")
    command = [*GATEWAY, "import", "Patient", str(source), "--url", f"http://127.0.0.1:{ports[0]}/graphql"]
    command += ["--token-command", token_command(ports, "editor")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "imported 150 of 152 rows" in done.stdout, done.stdout + done.stderr
    rejected = [json.loads(line) for line in (tmp_path / "patients.csv.rejected.jsonl").read_text().splitlines()]
    assert [(each["row"], each["errors"][0]["field"]) for each in rejected] == [(151, "birthDate"), (152, "email")]
    found = ask(ports, '{ patients(patientIds: ["i-0", "i-149", "i-x"]) { email } }')["patients"]
    assert found == [{"email": "i-0@example.org"}, {"email": "i-149@example.org"}, None]
