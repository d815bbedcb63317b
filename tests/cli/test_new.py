"""`gateway new` in an empty folder: what it makes is complete, fresh, typed, tested, and free of faults."""

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gateway.cli.main import app

PATIENCE = 600
GENERATE = ["policies", "schema", "terraform-inputs", "records --path clinic/records.py"]


def run(directory: Path, *command: str) -> str:
    """A command of the installed package in this folder, as a person would run it."""
    command = (sys.executable, "-P", "-m", *command)
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    empty = tmp_path_factory.mktemp("empty")
    assert "gateway dev" in run(empty, "gateway", "new", "clinic")
    return empty / "clinic"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    before = list(sys.path)
    yield tmp_path
    sys.path[:] = before


@pytest.fixture(scope="module")
def checks(clinic: Path) -> dict[str, int]:
    """The exit codes of the commands that generate files, run by one process: most of their time is the start."""
    code = f"""
import json, sys
from typer.testing import CliRunner
from gateway.cli.main import app
print(json.dumps({{name: CliRunner().invoke(app, [*name.split(), "--check"]).exit_code for name in {GENERATE}}}))
"""
    found: dict[str, int] = json.loads(
        subprocess.run([sys.executable, "-P", "-c", code], cwd=clinic, stdout=subprocess.PIPE, check=True).stdout
    )
    return found


@pytest.mark.slow
@pytest.mark.parametrize("command", GENERATE)
def test_what_is_generated_is_fresh(checks: dict[str, int], command: str) -> None:
    assert checks[command] == 0


def test_no_placeholder_is_left_and_the_domain_is_an_entry_point(clinic: Path) -> None:
    names = {str(path.relative_to(clinic)) for path in clinic.rglob("*") if "cache" not in str(path)}
    assert names >= {".gitignore", "Dockerfile", "Makefile", "README.md", "clinic/py.typed", "policies/boundary.json"}
    for name in names:
        if (clinic / name).is_file():
            text = (clinic / name).read_text()
            assert not any(word in text or word in name for word in ("@name@", "@title@", "@version@", "@modules@"))
    project = tomllib.loads((clinic / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["gateway.domains"] == {"clinic": "clinic.domain"}


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("class", "is a Python keyword"),
        ("match", "is a Python keyword"),
        ("my-clinic", "cannot be the name of a package"),
        ("Clinic", "cannot be the name of a package"),
        ("1clinic", "cannot be the name of a package"),
        ("../clinic", "cannot be the name of a package"),
        ("clinic_", "cannot be the name of a package"),
        ("json", "is the name of another Python module"),
        ("gateway", "is the name of another Python module"),
        ("pytest", "is the name of another Python module"),
        ("tests", "is the name of another Python module"),
    ],
)
def test_a_name_that_cannot_work_is_refused(here: Path, name: str, fault: str) -> None:
    refused = CliRunner().invoke(app, ["new", name])
    assert refused.exit_code == 1
    assert f"`{name}` {fault}" in refused.output
    assert list(here.iterdir()) == []


def test_without_the_sandbox_it_says_what_to_install(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "pip install" not in CliRunner().invoke(app, ["new", "ward"]).output
    monkeypatch.setitem(sys.modules, "moto", None)
    made = CliRunner().invoke(app, ["new", "practice"])
    assert made.output.splitlines()[1:] == ["  cd practice", "  pip install -e '.[dev]'", "  gateway dev"]


def test_a_folder_with_files_is_left_as_it_is(here: Path) -> None:
    (here / "surgery").mkdir()
    (here / "surgery" / "notes.txt").write_text("mine")
    refused = CliRunner().invoke(app, ["new", "surgery"])
    assert refused.exit_code == 1
    assert "exists and is not an empty folder" in refused.output
    assert [path.name for path in (here / "surgery").iterdir()] == ["notes.txt"]


def test_an_empty_folder_is_used_and_words_are_joined(here: Path) -> None:
    (here / "pet_shop").mkdir()
    made = CliRunner().invoke(app, ["new", "pet_shop", "--modules", "../modules/stack"])
    assert made.exit_code == 0, made.output
    project = (here / "pet_shop" / "pyproject.toml").read_text()
    assert 'name = "pet-shop"' in project
    assert "# Pet shop" in (here / "pet_shop" / "README.md").read_text()
    assert 'source = "../modules/stack"' in (here / "pet_shop" / "terraform" / "main.tf").read_text()
