"""A project of `gateway new`: its tests pass, it is typed and clean, and its isolation is proved."""

from pathlib import Path

import pytest

from tests.cli.test_new import run


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    empty = tmp_path_factory.mktemp("empty")
    run(empty, "gateway", "new", "clinic")
    return empty / "clinic"


def test_its_tests_pass(clinic: Path) -> None:
    assert "6 passed" in run(clinic, "pytest", "-p", "no:cacheprovider", "-W", "error")


def test_it_is_typed_formatted_and_clean(clinic: Path) -> None:
    run(clinic, "ruff", "check", "--no-cache", ".")
    run(clinic, "ruff", "format", "--no-cache", "--check", ".")
    assert "no issues" in run(clinic, "mypy")


def test_isolation_is_proved_for_the_project_in_the_folder(clinic: Path) -> None:
    assert "proved for every request" in run(clinic, "gateway", "isolation", "prove", "--formal", "--report", "deep/er")
    assert "probes held" in run(clinic, "gateway", "isolation", "prove", "--report", "deep/sandbox")
    [report] = (clinic / "deep" / "sandbox").glob("*.json")
    assert "notesByStatus" in report.read_text()
