"""checkov's findings: none that is not explained where it was found."""

import json
import os
import subprocess
from typing import Any

import pytest

from tests.terraform.tool import REPOSITORY

_CHECKOV = REPOSITORY / ".engines" / "checkov" / "bin" / "checkov"


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    if not _CHECKOV.exists():
        message = "checkov is missing: run scripts/terraform-tools"
        pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)
    found = subprocess.run(
        [str(_CHECKOV), "--skip-download", "--directory", "terraform", "--framework", "terraform", "--output", "json"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    content: dict[str, Any] = json.loads(found.stdout)
    return content


def test_it_finds_nothing(results: dict[str, Any]) -> None:
    assert [(each["check_id"], each["resource"]) for each in results["results"]["failed_checks"]] == []
    assert results["summary"]["parsing_errors"] == 0
    # that it looked at all
    assert results["summary"]["passed"] > 300


def test_what_is_left_out_says_why(results: dict[str, Any]) -> None:
    for each in results["results"]["skipped_checks"]:
        assert len(each["check_result"]["suppress_comment"]) > 5, (each["check_id"], each["resource"])


def test_the_dockerfile_has_no_findings(results: dict[str, Any]) -> None:
    found = subprocess.run(
        [str(_CHECKOV), "--skip-download", "--file", "Dockerfile", "--framework", "dockerfile", "--output", "json"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    content = json.loads(found.stdout)
    assert content["results"]["failed_checks"] == []
    assert content["summary"]["passed"] > 5
