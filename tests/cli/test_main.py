"""The commands: what they print, and how they fail."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from gateway import __version__
from gateway.cli.main import app

RUN = CliRunner()


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_a_command_the_commands_are_listed() -> None:
    result = RUN.invoke(app, [])
    for command in ("dev", "serve", "token", "schema", "policies", "isolation"):
        assert command in result.output


def test_help_lists_the_commands_in_groups() -> None:
    text = RUN.invoke(app, ["--help"]).output
    places = [
        text.index(group) for group in ("Run the gateway", "Write files from the model", "Prove and check", "Operate")
    ]
    assert places == sorted(places)
    assert places[0] < text.index("serve") < places[1] < text.index("terraform-inputs") < places[2]


def test_no_help_text_has_brackets_which_its_printer_takes_for_markup() -> None:
    def texts(command: Any) -> Iterator[str]:
        yield from filter(None, (command.help, *(getattr(each, "help", None) for each in command.params)))
        for inner in getattr(command, "commands", {}).values():
            yield from texts(inner)

    assert [text for text in texts(get_command(app)) if "[" in text] == []


def test_serve_without_settings_names_each_fault_once(clean: Path) -> None:
    result = RUN.invoke(app, ["serve"], env={"GATEWAY_DOMAINS": "[]"})
    assert result.exit_code == 2
    lines = [line for line in result.output.splitlines() if "domains: none is named" in line]
    assert len(lines) == 1


def test_help_loads_no_library_that_only_a_command_needs() -> None:
    code = "import sys; from gateway.cli.main import app; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert "typer" in loaded
    assert not {"boto3", "botocore", "moto", "z3", "cvc5", "strawberry", "starlette", "msgspec"} & set(loaded)


def test_the_version_is_printed() -> None:
    assert RUN.invoke(app, ["version"]).output.strip() == __version__


def test_a_plan_of_migrations_needs_no_table(clean: Path) -> None:
    result = RUN.invoke(app, ["migrate", "plan"])
    assert (result.exit_code, result.output.strip()) == (0, "nothing to migrate")


def test_a_migration_takes_a_model_of_ones_own(clean: Path) -> None:
    result = RUN.invoke(app, ["migrate", "run", "--entity", "Order", "--domains", "nowhere.domain"])
    assert result.exit_code == 2
    assert "the migration cannot run:" in result.output
    assert "`nowhere.domain` cannot be imported" in result.output


def test_a_migration_says_what_it_needs(clean: Path) -> None:
    result = RUN.invoke(app, ["migrate", "run", "--entity", "Order"])
    assert result.exit_code == 2
    assert "--table is needed" in result.output
    assert "--region is needed" in result.output


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


@pytest.mark.parametrize("command", ["schema", "docs", "terraform-inputs"])
def test_a_generated_file_gets_its_folder(clean: Path, command: str) -> None:
    path = Path("some") / "new" / "folder" / "file"
    assert RUN.invoke(app, [command, "--path", str(path)]).exit_code == 0
    assert path.is_file()


def test_a_manifest_gets_its_folder(clean: Path) -> None:
    Path("one.graphql").write_text("query A { __typename }")
    assert RUN.invoke(app, ["documents", "one.graphql", "--out", "new/trusted.json"]).exit_code == 0
    assert Path("new/trusted.json").is_file()


def test_a_token_without_a_sandbox_is_a_clear_message() -> None:
    result = RUN.invoke(app, ["token", "--url", "http://127.0.0.1:1"])
    assert result.exit_code == 1
    assert "Traceback" not in result.output
    assert result.output.strip()


def test_a_proof_needs_a_known_endpoint(clean: Path) -> None:
    result = RUN.invoke(app, ["isolation", "prove", "--endpoint", "mars"])
    assert (result.exit_code, "neither" in result.output) == (1, True)


def test_a_proof_on_an_account_takes_the_domains_of_its_settings(clean: Path) -> None:
    result = RUN.invoke(app, ["isolation", "prove", "--endpoint", "aws", "--domains", "gateway.demo.devices"])
    assert (result.exit_code, "--domains is for the sandbox" in result.output) == (1, True)


def test_a_proof_on_an_account_needs_settings(clean: Path) -> None:
    assert RUN.invoke(app, ["isolation", "prove", "--endpoint", "aws"]).exit_code == 2


def test_changes_of_the_schema_are_reported_and_must_be_announced(clean: Path) -> None:
    old, changelog = clean / "old.graphql", clean / "CHANGELOG.md"
    RUN.invoke(app, ["schema", "--path", str(old)])
    same = RUN.invoke(app, ["schema", "--diff", str(old)])
    assert (same.exit_code, same.output.strip()) == (0, "no changes that clients would notice")
    # what was there and is gone
    old.write_text(
        old.read_text().replace("type Order implements Node {", "type Order implements Node {\n  gone: Int\n")
    )
    diff = RUN.invoke(app, ["schema", "--diff", str(old)])
    assert (diff.exit_code, "breaking: Field Order.gone was removed." in diff.output) == (1, True)
    changelog.write_text("# Changelog\n## 1.0\n### Added\n- something\n")
    silent = RUN.invoke(app, ["schema", "--diff", str(old), "--announced", str(changelog)])
    assert (silent.exit_code, "name `Order.gone`" in silent.output) == (1, True)
    changelog.write_text("# Changelog\n## 1.0\n### Removed\n- `Order.gone`: nobody used it\n")
    announced = RUN.invoke(app, ["schema", "--diff", str(old), "--announced", str(changelog)])
    assert (announced.exit_code, "(announced)" in announced.output) == (0, True)


def test_announced_changes_need_an_old_schema(clean: Path) -> None:
    path = clean / "schema.graphql"
    result = RUN.invoke(app, ["schema", "--path", str(path), "--announced", "CHANGELOG.md"])
    assert (result.exit_code, "needs --diff" in result.output, path.exists()) == (1, True, False)


@pytest.mark.slow
def test_ci_holds_the_schema_against_the_last_release(tmp_path: Path) -> None:
    """With the script that CI runs, in a repository of its own."""
    root = Path(__file__).parents[2]
    command = tmp_path / "gateway"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m gateway "$@"\n')
    command.chmod(0o755)
    repository = tmp_path / "repository"
    (repository / "scripts").mkdir(parents=True)
    shutil.copy(root / "scripts" / "schema-changes", repository / "scripts")
    # exits as the command does for these two schemas, and needs no second for it
    stub = tmp_path / "stub"
    stub.write_text('#!/bin/sh\n! grep -q "gone: Int" "$3" || grep -q "Order.gone" "$5"\n')
    stub.chmod(0o755)
    schema, changelog = repository / "schema.graphql", repository / "CHANGELOG.md"
    fresh = (root / "schema.graphql").read_text()
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b.example", "GIT_CONFIG_GLOBAL": os.devnull}
    who |= {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b.example", "GIT_CONFIG_NOSYSTEM": "1"}
    environment = {**os.environ, **who, "PYTHONPATH": str(root)}

    def run(*words: str, gateway: Path = stub) -> int:
        variables = {**environment, "GATEWAY": str(gateway)}
        return subprocess.run(words, cwd=repository, env=variables, check=False, capture_output=True).returncode

    def commit(text: str, entry: str) -> None:
        schema.write_text(text)
        changelog.write_text(f"# Changelog\n## 1.0\n### Removed\n- {entry}\n")
        assert run("git", "add", "-A") == run("git", "commit", "--quiet", "--message", "a change") == 0

    run("git", "init", "--quiet")
    commit(fresh.replace("type Order implements Node {", "type Order implements Node {\n  gone: Int\n"), "nothing")
    assert run("scripts/schema-changes") == 0  # there is nothing before it
    commit(fresh, "nothing")
    assert run("scripts/schema-changes") == 1  # before the first release, against the version before
    commit(fresh, "nothing that concerns the schema")
    assert run("scripts/schema-changes") == 1
    assert run("git", "tag", "v1.0.0", "HEAD~2") == 0
    assert run("scripts/schema-changes") == 1
    commit(fresh, "`Order.gone`")
    for gateway in (stub, command):
        assert run("scripts/schema-changes", gateway=gateway) == 0
    commit(fresh, "what the release still has")
    for gateway in (stub, command):
        assert run("scripts/schema-changes", gateway=gateway) == 1


def test_dangerous_changes_are_reported_but_allowed(clean: Path) -> None:
    old = clean / "old.graphql"
    RUN.invoke(app, ["schema", "--path", str(old)])
    text = old.read_text()
    value = text[text.index("enum OrderStatus {") :].split("\n")[2].strip()
    assert value.isupper()
    old.write_text(text.replace(f"\n  {value}\n", "\n", 1).replace('"""placed, not yet paid"""\n', "", 1))
    result = RUN.invoke(app, ["schema", "--diff", str(old)])
    assert (result.exit_code, f"dangerous: Enum value OrderStatus.{value}" in result.output) == (0, True)


@pytest.mark.parametrize("content", [None, "type {"])
def test_an_old_schema_that_cannot_be_read_is_a_clear_message(clean: Path, content: str | None) -> None:
    old = clean / "old.graphql"
    if content is not None:
        old.write_text(content)
    result = RUN.invoke(app, ["schema", "--diff", str(old)])
    assert (result.exit_code, "Traceback" in result.output) == (1, False)


def test_a_manifest_of_trusted_documents_is_written_and_checked(clean: Path) -> None:
    (clean / "who.graphql").write_text("query Who($id: ID!) { user(userId: $id) { name } }")
    stale = RUN.invoke(app, ["documents", str(clean), "--check"])
    assert (stale.exit_code, "is stale" in stale.output) == (1, True)
    assert RUN.invoke(app, ["documents", str(clean)]).exit_code == 0
    [operation] = json.loads((clean / "trusted-documents.json").read_text())["operations"]
    assert (operation["name"], operation["type"]) == ("Who", "query")
    assert RUN.invoke(app, ["documents", str(clean), "--check"]).exit_code == 0
    (clean / "who.graphql").write_text("query Who { gone }")
    wrong = RUN.invoke(app, ["documents", str(clean)])
    assert (wrong.exit_code, "`Who`" in wrong.output) == (1, True)


def test_capacity_is_planned_for_the_domains_that_are_named() -> None:
    result = RUN.invoke(app, ["capacity", "--format", "json", "--domains", "gateway.demo.devices"])
    assert result.exit_code == 0
    names = {row["name"] for row in json.loads(result.output)["consumption"]}
    assert "readings" in names
    assert "order" not in names


@pytest.mark.parametrize(
    ("arguments", "title"),
    [
        (["capacity", "--format", "xml"], "capacity cannot be planned:"),
        (["capacity", "--domains", "no.such.domain"], "capacity cannot be planned:"),
        (["audit", "--table", "shop"], "the audit cannot run:"),
        (["audit", "--table", "shop", "--region", "eu-west-1", "--domains", "no.such.domain"], "the audit cannot run:"),
    ],
)
def test_a_command_says_what_it_cannot_do(arguments: list[str], title: str) -> None:
    result = RUN.invoke(app, arguments)
    assert (result.exit_code, title in result.output) == (2, True)
    assert "Traceback" not in result.output


@pytest.mark.slow
def test_ci_holds_the_policies_against_the_last_change(tmp_path: Path) -> None:
    """With the script that CI runs, in a repository of its own: a widening that the changelog does not name fails."""
    root = Path(__file__).parents[2]
    command = tmp_path / "gateway"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m gateway "$@"\n')
    command.chmod(0o755)
    repository = tmp_path / "repository"
    (repository / "scripts").mkdir(parents=True)
    shutil.copy(root / "scripts" / "policy-changes", repository / "scripts")
    shutil.copytree(root / "policies", repository / "policies")
    viewer, changelog = repository / "policies" / "session-viewer.json", repository / "CHANGELOG.md"
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b.example", "GIT_CONFIG_GLOBAL": os.devnull}
    who |= {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b.example", "GIT_CONFIG_NOSYSTEM": "1"}
    environment = {**os.environ, **who, "GATEWAY": str(command), "PYTHONPATH": str(root)}

    def run(*words: str) -> int:
        return subprocess.run(words, cwd=repository, env=environment, check=False, capture_output=True).returncode

    def commit(text: str, entry: str) -> None:
        viewer.write_text(text)
        changelog.write_text(f"# Changelog\n## Unreleased\n- {entry}\n")
        assert run("git", "add", "-A") == run("git", "commit", "--quiet", "--message", "a change") == 0

    run("git", "init", "--quiet")
    fresh = viewer.read_text()
    commit(fresh, "nothing")
    assert run("scripts/policy-changes") == 0  # there is nothing before it
    commit(fresh.replace('"dynamodb:Query"', '"dynamodb:Query", "dynamodb:PutItem"'), "nothing")
    assert run("scripts/policy-changes") == 1
    commit(viewer.read_text(), "`viewer dynamodb:PutItem`, so that viewers write")
    assert run("scripts/policy-changes") == 0
