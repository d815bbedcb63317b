"""Which roles may do more than before: named as wider."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gateway.cli.policies import policies
from gateway.demo import MODEL
from gateway.iam.formal.errors import NotProvable
from gateway.iam.formal.solver import solver
from gateway.iam.policies.generate import documents
from gateway.ops.isolation.formal_proof import EXAMPLE
from gateway.ops.policies.changes import RoleChange, changes
from gateway.ops.policies.files import write_policies
from gateway.settings import DEMO_DOMAINS

RUN = CliRunner()


def older(**actions: str) -> dict[str, Any]:
    """The documents of a release in which a role had one action less, or one more."""
    made = documents(MODEL)
    for role, action in actions.items():
        grant, _, denial, *_ = made[f"session-{role}.json"]["Statement"]
        for listed in (grant["Action"], denial["NotAction"]):
            listed.remove(action) if action in listed else listed.append(action)
    return made


OLD = {"viewer": "dynamodb:BatchGetItem", "support": "dynamodb:PutItem"}


def test_each_role_is_reported_as_wider_narrower_or_equal() -> None:
    found = changes(older(**OLD), documents(MODEL), EXAMPLE)
    by_role = {change.who: change for change in found}
    assert by_role["viewer"] == RoleChange("viewer", "wider", ("dynamodb:BatchGetItem",))
    assert by_role["support"] == RoleChange("support", "narrower", (), ("dynamodb:PutItem",))
    assert {change.who for change in found if change.direction == "equal"} == {
        *("admin", "editor", "customer", "ordering", "tenant-trust", "gateway-role", "stream-role"),
        "vpc-endpoint",
    }
    assert by_role["viewer"].line() == "wider: viewer (may also: dynamodb:BatchGetItem)"
    assert by_role["support"].line() == "narrower: support (may no longer: dynamodb:PutItem)"


@pytest.mark.slow
def test_a_role_that_comes_or_goes_is_named() -> None:
    before = {name: text for name, text in documents(MODEL).items() if name != "session-viewer.json"}
    came = changes(before, documents(MODEL), EXAMPLE)
    went = changes(documents(MODEL), before, EXAMPLE)
    [new] = [change for change in came if change.who == "viewer"]
    [gone] = [change for change in went if change.who == "viewer"]
    assert (new.direction, gone.direction) == ("new", "removed")
    assert "dynamodb:Query" in new.more
    assert "dynamodb:Query" in gone.less


@pytest.mark.slow
def test_a_find_that_is_new_is_wider() -> None:
    old = documents(MODEL)
    statements = old["session-support.json"]["Statement"]
    by_key = next(each for each in statements if each["Sid"] == "NeverByHiddenKey")
    keys = by_key["Condition"]["ForAnyValue:StringLike"]["dynamodb:LeadingKeys"]
    keys.append(keys[0].replace("PHONE", "EMAIL"))
    found = changes(old, documents(MODEL), EXAMPLE)
    [support] = [change for change in found if change.who == "support"]
    assert support.direction == "wider"
    assert "dynamodb:Query" in support.more


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GATEWAY_DOMAINS", json.dumps(DEMO_DOMAINS))
    made = tmp_path / "policies"
    write_policies(made, MODEL)
    return made


def git(*arguments: str, at: Path) -> None:
    who = ("-c", "user.name=ann", "-c", "user.email=ann@example.com")
    subprocess.run(["git", *who, *arguments], cwd=at, check=True, capture_output=True)


@pytest.mark.slow
def test_the_check_names_a_widening_and_fails_until_it_is_announced(directory: Path, tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.mkdir()
    for name, text in older(**OLD).items():
        (old / name).write_text(json.dumps(text))
    arguments = ["--check", "--directory", str(directory), "--against", str(old)]
    ran = RUN.invoke(policies, arguments)
    assert ran.exit_code == 1
    assert "for every request:" in ran.output
    assert "  wider: viewer (may also: dynamodb:BatchGetItem)" in ran.output
    assert "  narrower: support" in ran.output
    changelog = tmp_path / "CHANGELOG.md"
    changelog.write_text("## Unreleased\n\n- `viewer dynamodb:BatchGetItem`: many at once.\n\n## 1.0.0\n")
    assert RUN.invoke(policies, [*arguments, "--announced", str(changelog)]).exit_code == 0
    changelog.write_text("## Unreleased\n\n## 1.0.0\n\n- `viewer dynamodb:BatchGetItem`\n")
    assert RUN.invoke(policies, [*arguments, "--announced", str(changelog)]).exit_code == 1


@pytest.mark.slow
def test_the_last_release_is_a_revision_of_git(directory: Path, tmp_path: Path) -> None:
    git("init", "-q", at=tmp_path)
    git("add", ".", at=tmp_path)
    git("commit", "-qm", "first", at=tmp_path)
    git("tag", "v1.0.0", at=tmp_path)
    arguments = ["--check", "--directory", str(directory), "--against"]
    ran = RUN.invoke(policies, [*arguments, "v1.0.0"])
    assert ran.exit_code == 0, ran.output
    assert "  equal: viewer" in ran.output
    for wrong in ("v9.9.9", "--output=x"):
        ran = RUN.invoke(policies, [*arguments, wrong])
        assert ran.exit_code != 0


def test_without_a_solver_the_check_fails_and_says_what_to_install(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> Any:
        raise NotProvable(solver.INSTALL)

    old = json.loads((directory / "session-viewer.json").read_text())
    old["Statement"][0]["Action"].remove("dynamodb:Query")
    before = directory.parent / "before"
    shutil.copytree(directory, before)
    (before / "session-viewer.json").write_text(json.dumps(old))
    monkeypatch.setattr(solver, "z3_module", missing)
    ran = RUN.invoke(policies, ["--check", "--directory", str(directory), "--against", str(before)])
    assert ran.exit_code == 1
    assert "[proof]" in ran.output
