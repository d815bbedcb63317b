"""The domains of a command: those that are named, or those of the project in the folder."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gateway.cli.dev import Dev
from gateway.cli.main import app
from gateway.cli.options import project_domains

HELPDESK = Path(__file__).parents[2] / "examples" / "helpdesk"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    before = list(sys.path)
    yield tmp_path
    sys.path[:] = before


def schema(*arguments: str) -> str:
    made = CliRunner().invoke(app, ["schema", "--path", "deep/er/schema.graphql", *arguments])
    assert made.exit_code == 0, made.output
    return Path("deep/er/schema.graphql").read_text()


def test_a_project_declares_its_domains_as_entry_points(here: Path) -> None:
    assert project_domains(here) == []
    (here / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert project_domains(here) == []
    (here / "pyproject.toml").write_text("[project.entry-points.'gateway.domains']\na = 'one.domain:DOMAIN'\nb = 'two'")
    assert project_domains(here) == ["one.domain", "two"]


def test_a_project_in_the_folder_is_what_a_command_is_about(here: Path) -> None:
    assert CliRunner().invoke(app, ["schema"], env={"GATEWAY_DOMAINS": ""}).exit_code == 2, "nothing is named"
    (here / "pyproject.toml").write_text("[project.entry-points.'gateway.domains']\ndesk = 'desk_of_test.domain'\n")
    package = here / "desk_of_test"
    package.mkdir()
    for file in HELPDESK.glob("*.py"):
        (package / file.name).write_text(file.read_text().replace("helpdesk", "desk_of_test"))
    assert "type Ticket " in schema()
    assert "type Order " not in schema()
    assert "type Device " in schema("--domains", "gateway.demo.devices")
    assert sys.path[-1] == str(here), "a file of the project must not replace an installed package"


def test_a_project_file_that_cannot_be_read_is_reported(here: Path) -> None:
    (here / "pyproject.toml").write_text("[project")
    refused = CliRunner().invoke(app, ["schema"])
    assert refused.exit_code == 2
    assert "pyproject.toml cannot be read" in refused.output


def test_dev_seeds_and_serves_what_the_setting_names(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Dev] = []

    def run(options: Dev) -> int:
        started.append(options)
        return 0

    monkeypatch.setattr("gateway.cli.dev.dev", run)
    named = {"GATEWAY_DOMAINS": '["gateway.demo.devices"]'}
    assert CliRunner().invoke(app, ["dev"], env=named).exit_code == 0
    assert CliRunner().invoke(app, ["dev", "--domains", "gateway.demo.publishing"], env=named).exit_code == 0
    assert CliRunner().invoke(app, ["dev"], env={"GATEWAY_DOMAINS": "[]"}).exit_code == 0
    assert [options.domains for options in started] == [("gateway.demo.devices",), ("gateway.demo.publishing",), ()]
