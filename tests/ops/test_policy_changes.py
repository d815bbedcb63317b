"""`scripts/policy-changes`, which CI runs: a widening that the changelog does not name fails; in its own repository."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.demo import MODEL
from gateway.iam.policies.generate import documents
from tests.cli.test_formal_commands import with_put

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parents[2] / "scripts" / "policy-changes"
GATEWAY = Path(sys.executable).with_name("gateway")
_SILENT = "# Changelog\n\n## Unreleased\n\n- nothing\n"
_NAMED = "# Changelog\n\n## Unreleased\n\n- viewers write: `viewer dynamodb:PutItem`\n"


class Repository:
    def __init__(self, root: Path) -> None:
        self.root = root
        for name in ("scripts", "policies"):
            (root / name).mkdir()
        shutil.copy(SCRIPT, root / "scripts")
        self.git("init", "--quiet")
        for name, document in documents(MODEL).items():
            self.write(f"policies/{name}", json.dumps(document))
        self.write("CHANGELOG.md", _SILENT)
        self.commit("first")

    def git(self, *command: str) -> None:
        who = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *who, *command], cwd=self.root, check=True, capture_output=True, timeout=60)

    def write(self, path: str, text: str) -> None:
        (self.root / path).write_text(text)

    def commit(self, message: str) -> None:
        self.git("add", "-A")
        self.git("commit", "--quiet", "-m", message)

    def check(self) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "GATEWAY": str(GATEWAY)}
        command = [str(self.root / "scripts" / "policy-changes")]
        return subprocess.run(command, cwd=self.root, env=env, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def test_a_first_version_has_nothing_to_compare_with(repository: Repository) -> None:
    ran = repository.check()
    assert (ran.returncode, ran.stdout) == (0, "there are no earlier policies to compare with\n")


def test_a_widening_fails_until_the_changelog_names_it(repository: Repository) -> None:
    repository.write("policies/session-viewer.json", json.dumps(with_put("session-viewer.json")))
    repository.commit("viewers write")
    silent = repository.check()
    assert silent.returncode == 1
    assert "wider: viewer dynamodb:PutItem" in silent.stdout
    assert "not announced: name `viewer dynamodb:PutItem`" in silent.stderr
    repository.write("CHANGELOG.md", _NAMED)
    assert repository.check().returncode == 0


def test_a_widening_since_the_last_release_counts_however_many_changes_ago_it_was(repository: Repository) -> None:
    repository.git("tag", "v1.0.0")
    wider = with_put("session-viewer.json")
    repository.write("policies/session-viewer.json", json.dumps(wider))
    repository.commit("viewers write")
    repository.write("policies/session-viewer.json", json.dumps(wider, indent=1))
    repository.commit("the same, in other lines")
    ran = repository.check()
    assert "the policies since v1.0.0:" in ran.stdout
    assert ran.returncode == 1
