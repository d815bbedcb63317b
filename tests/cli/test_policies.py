"""`gateway policies` as it is typed."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from gateway.cli.policies import policies
from gateway.ops.policies import files

RUN = CliRunner()


def test_the_files_are_written_and_then_fresh(tmp_path: Path) -> None:
    target = tmp_path / "policies"
    first = RUN.invoke(policies, ["--directory", str(target)])
    assert first.exit_code == 0
    assert f"wrote {target / 'tenant-role.json'}" in first.stdout
    assert RUN.invoke(policies, ["--check", "--directory", str(target)]).exit_code == 0


def test_a_check_fails_with_the_difference_and_writes_nothing(tmp_path: Path) -> None:
    RUN.invoke(policies, ["--directory", str(tmp_path)])
    path = tmp_path / "session-viewer.json"
    path.write_text(path.read_text().replace("dynamodb:Query", "dynamodb:Scan"))
    before = path.read_text()
    checked = RUN.invoke(policies, ["--check", "--directory", str(tmp_path)])
    assert checked.exit_code == 1
    assert "session-viewer.json: stale" in checked.stderr
    assert '-        "dynamodb:Scan",' in checked.stderr
    assert path.read_text() == before


def test_a_stranger_in_the_directory_fails_even_after_writing(tmp_path: Path) -> None:
    (tmp_path / "wide-open.json").write_text("{}")
    written = RUN.invoke(policies, ["--directory", str(tmp_path)])
    assert written.exit_code == 1
    assert "wide-open.json: the model does not write such a file" in written.stderr


def test_unsafe_policies_are_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "unsafe_policies", lambda model: ["boundary.json: opens everything"])
    refused = RUN.invoke(policies, ["--directory", str(tmp_path / "policies")])
    assert refused.exit_code == 1
    assert "boundary.json: opens everything" in refused.stderr
    assert not (tmp_path / "policies").exists()


def test_a_directory_that_cannot_be_written_is_a_message(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    failed = RUN.invoke(policies, ["--directory", str(tmp_path / "file" / "below")])
    assert failed.exit_code == 1
    assert "Traceback" not in failed.output


def test_explain_prints_the_verdict_and_why() -> None:
    request = "GetItem PK=TENANT#globex#USER#1 SK=PROFILE"
    result = RUN.invoke(policies, ["explain", "--role", "viewer", "--tenant", "acme", request])
    assert result.exit_code == 0
    assert result.stdout.startswith("DENIED: GetItem as viewer of acme")
    assert "NeverForeignRows" in result.stdout
    assert "condition `ForAllValues:StringLike dynamodb:LeadingKeys` does not hold" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--role", "root", "--tenant", "acme", "Scan"], "there is no role `root`"),
        (["--role", "viewer", "--tenant", "a#b", "Scan"], "a tenant id is"),
        (["--role", "viewer", "--tenant", "acme", "Look"], "no operation `Look`"),
    ],
)
def test_explain_says_what_is_wrong_with_the_question(arguments: list[str], message: str) -> None:
    result = RUN.invoke(policies, ["explain", *arguments])
    assert result.exit_code == 1
    assert message in result.stderr
