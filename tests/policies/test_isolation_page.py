"""docs/isolation.md names commands that exist: test files, Makefile targets and subcommands of `gateway`."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gateway.cli.main import app

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/isolation.md").read_text(encoding="utf-8")
# options and quoted arguments are not checked
COMMANDS = sorted(set(re.findall(r"`((?:pytest|make|gateway) [^`]+)`", PAGE)))


def test_the_page_has_commands_of_each_kind() -> None:
    assert {command.split()[0] for command in COMMANDS} == {"pytest", "make", "gateway"}


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_exists(command: str) -> None:
    program, *words = command.split()
    if program == "pytest":
        assert [word for word in words if word.startswith("tests") and not (ROOT / word).exists()] == []
    elif program == "make":
        targets = [word for word in words if not word.startswith("-")]
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        assert [target for target in targets if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []
    else:
        names = [word for word in words if word.isalpha() and word != "aws"]
        assert CliRunner().invoke(app, [*names, "--help"]).exit_code == 0


def test_each_folder_of_the_table_exists() -> None:
    places = re.findall(r"`((?:gateway|policies|docs)/[\w/.]*)`", PAGE)
    assert len(places) >= 7
    assert [place for place in places if not (ROOT / place).exists()] == []
