"""The guide is followed in an empty folder: its files are written and its commands are run, in its order."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from gateway.sandbox.dev.issuer import ask_for_token
from tests.graphql_http import post_graphql

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "your-own-domain.md").read_text()
CLINIC = ROOT / "examples" / "clinic"
PATIENCE = 600
# what the example has more of than the guide shows
LONGER = {
    "README.md",
    "tests/patients.py",
    "tests/test_clinic.py",
    "tests/test_documents.py",
    "tests/test_import.py",
    "terraform/main.tf",
}
_BLOCK = re.compile(r"(?:^`([\w/]+\.py)`:\n\n)?```(python|sh|graphql)\n(.*?)```", re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    path: str
    language: str
    text: str


def blocks() -> Iterator[Block]:
    walk = GUIDE.partition("## 1. ")[2].partition("## 9. ")[0]
    return (Block(path, language, text) for path, language, text in _BLOCK.findall(walk))


def free_ports() -> list[int]:
    with socket.socket() as one, socket.socket() as other:
        for each in (one, other):
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in (one, other)]


class Follower:
    """Somebody who does what the guide says, with the package on the path and no settings."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GATEWAY_")}
        self.environment = {**kept, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"}
        self.ran: list[str] = []
        self.answers: list[dict[str, object]] = []

    def follow(self, block: Block) -> None:
        if block.path:
            (self.folder / block.path).write_text(block.text)
        elif block.language == "sh":
            for line in block.text.splitlines():
                self.run(line)
        elif block.language == "graphql":
            self.answers.append(self.answer_from_dev(block.text))

    def run(self, line: str) -> None:
        self.ran.append(line)
        if line.startswith("cd "):
            self.folder /= line.removeprefix("cd ")
        elif line != "gateway dev":  # it is started where it is asked
            done = subprocess.run(
                ["bash", "-c", line],
                cwd=self.folder,
                env=self.environment,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
            assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"

    def answer_from_dev(self, query: str) -> dict[str, object]:
        assert self.ran[-1] == "gateway dev"
        ports = free_ports()
        options = ("dev", "--no-reload", "--port", str(ports[0]), "--aws-port", str(ports[1]))
        command = [sys.executable, "-P", "-m", "gateway", *options]
        with subprocess.Popen(
            command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True
        ) as running:
            try:
                assert running.stdout is not None
                assert any("Stop with Ctrl-C" in line for line in running.stdout), "it has ended"
                token = ask_for_token(f"http://127.0.0.1:{ports[1]}", "acme", "viewer")
                url = f"http://127.0.0.1:{ports[0]}/graphql"
                return post_graphql(url, token, query, seconds=PATIENCE)
            finally:
                running.terminate()


@pytest.fixture(scope="module")
def follower(tmp_path_factory: pytest.TempPathFactory) -> Follower:
    made = Follower(tmp_path_factory.mktemp("empty"))
    for block in blocks():
        made.follow(block)
    return made


def test_the_guide_has_every_step() -> None:
    languages = [block.language for block in blocks()]
    assert (languages.count("sh"), languages.count("graphql")) == (3, 1)
    shown = {block.path for block in blocks()}
    written = {str(path.relative_to(CLINIC)) for path in (CLINIC / "clinic").glob("*.py")}
    assert written - shown == {"clinic/__init__.py", "clinic/records.py"}


def test_the_gateway_answers_and_every_command_succeeds(follower: Follower) -> None:
    [answer] = follower.answers
    assert "errors" not in answer
    assert "Curie Marie (acme)" in str(answer)
    assert follower.ran[-1] == "gateway isolation prove"


def test_what_the_guide_makes_is_the_example(follower: Follower) -> None:
    names = {
        str(path.relative_to(CLINIC))
        for path in CLINIC.rglob("*")
        if path.is_file() and "cache" not in str(path) and "isolation" not in path.name
    }
    assert len(names) > 25
    for name in sorted(names - LONGER):
        assert (follower.folder / name).read_text() == (CLINIC / name).read_text(), name


def test_it_is_typed_formatted_and_clean(follower: Follower) -> None:
    for line in ("ruff check .", "ruff format --check .", "mypy", "make check"):
        follower.run(line)


def test_a_misspelt_attribute_of_a_record_is_found_by_mypy(follower: Follower) -> None:
    module = follower.folder / "clinic" / "billing.py"
    text = module.read_text()
    module.write_text(text.replace("invoice.status is", "invoice.stauts is"))
    with pytest.raises(AssertionError, match='"Invoice" has no attribute "stauts"'):
        follower.run("mypy")
    module.write_text(text)


def test_without_the_fixture_that_names_the_domains_it_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["gateway.testing"]\n')
    (tmp_path / "test_desk.py").write_text("def test_it(gateway_client):\n    pass\n")
    (tmp_path / "pytest.ini").touch()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "define a fixture `gateway_domains`" in done.stdout
