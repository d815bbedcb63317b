"""The commands: what they print, and how they fail."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from gateway import __version__
from gateway.cli import app

RUN = CliRunner()


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_a_command_the_commands_are_listed() -> None:
    result = RUN.invoke(app, [])
    for command in ("dev", "serve", "token", "schema", "policies", "isolation"):
        assert command in result.output


def test_the_version_is_printed() -> None:
    assert RUN.invoke(app, ["version"]).output.strip() == __version__


def test_missing_settings_are_one_clear_list(clean: Path) -> None:
    result = RUN.invoke(app, ["serve"], env={"GATEWAY_TABEL_NAME": "typo"})
    assert result.exit_code == 2
    assert "Traceback" not in result.output
    for name in ("table_name", "region", "tenant_role_arn", "issuers", "cursor_secret", "GATEWAY_TABEL_NAME"):
        assert name in result.output


@pytest.mark.parametrize(("command", "file"), [("schema", "schema.graphql"), ("docs", "page.md")])
def test_generated_files_are_written_and_checked(clean: Path, command: str, file: str) -> None:
    path = clean / file
    stale = RUN.invoke(app, [command, "--check", "--path", str(path)])
    assert (stale.exit_code, "is stale" in stale.output) == (1, True)
    assert RUN.invoke(app, [command, "--path", str(path)]).exit_code == 0
    assert RUN.invoke(app, [command, "--check", "--path", str(path)]).exit_code == 0
    path.write_text("changed")
    assert RUN.invoke(app, [command, "--check", "--path", str(path)]).exit_code == 1


def test_a_token_without_a_sandbox_is_a_clear_message() -> None:
    result = RUN.invoke(app, ["token", "--url", "http://127.0.0.1:1"])
    assert result.exit_code == 1
    assert "Traceback" not in result.output
    assert result.output.strip()


def test_a_proof_needs_a_known_endpoint(clean: Path) -> None:
    result = RUN.invoke(app, ["isolation", "prove", "--endpoint", "mars"])
    assert (result.exit_code, "neither" in result.output) == (1, True)


def test_a_proof_on_an_account_needs_settings(clean: Path) -> None:
    assert RUN.invoke(app, ["isolation", "prove", "--endpoint", "aws"]).exit_code == 2
