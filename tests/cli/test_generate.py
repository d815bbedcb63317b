"""Commands that write files make the folders that these files are in."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from gateway.cli.main import app

DOCUMENT = "query One { __typename }\n"


@pytest.mark.parametrize(
    ("command", "option", "file"),
    [
        ("schema", "--path", "schema.graphql"),
        ("docs", "--path", "access-patterns.md"),
        ("terraform-inputs", "--path", "table.json"),
        ("policies", "--directory", ""),
        ("documents", "--out", "trusted.json"),
    ],
)
def test_the_folders_of_a_file_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, option: str, file: str
) -> None:
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "deep" / "er" / file
    (tmp_path / "one.graphql").write_text(DOCUMENT)
    arguments = [command, *(["one.graphql"] if command == "documents" else []), option, str(place)]
    for check in ([], ["--check"]):
        done = CliRunner().invoke(app, [*arguments, "--domains", "gateway.demo.devices", *check])
        assert done.exit_code == 0, done.output
    assert place.is_file() if file else (place / "boundary.json").is_file()
