"""The Dockerfile, read: there may be no builder where tests run."""

import json
import re

import pytest

from gateway.settings import Settings
from tests.terraform.served import _IN_IMAGE
from tests.terraform.tool import REPOSITORY

_LOCKS = ("requirements.lock", "requirements-nats.lock", "requirements-dax.lock")
_TEXT = (REPOSITORY / "Dockerfile").read_text()
_LAST_STAGE = _TEXT.rpartition("\nFROM ")[2]


def test_it_runs_as_nobody_in_particular() -> None:
    assert re.search(r"^USER 10001:10001$", _LAST_STAGE, re.MULTILINE)
    task = (REPOSITORY / "terraform/modules/gateway-ecs/main.tf").read_text()
    assert '"10001:10001"' in task


def test_dependencies_come_from_the_lock_file_by_hash_and_without_the_sandbox() -> None:
    assert "--require-hashes" in _TEXT
    assert re.search(r"^COPY requirements\.lock ", _TEXT, re.MULTILINE)
    assert "requirements-dev" not in _TEXT
    assert "[sandbox]" not in _TEXT


def _locked(name: str) -> set[str]:
    lock = REPOSITORY / name
    assert lock.is_file(), "run `make lock`"
    return set(re.findall(r"^([a-z0-9_.-]+(?:\[[\w,]+\])?==\S+)", lock.read_text(), re.MULTILINE))


@pytest.mark.parametrize("name", _LOCKS)
def test_the_lock_file_has_no_sandbox(name: str) -> None:
    names = {re.split(r"[=\[]", each)[0] for each in _locked(name)}
    assert "starlette" in names
    assert not {"moto", "flask", "werkzeug", "pytest"} & names


@pytest.mark.parametrize(
    ("name", "clients"),
    [
        ("requirements-nats.lock", {"nats-py"}),
        ("requirements-dax.lock", {"nats-py", "amazon-dax-client", "antlr4-python3-runtime"}),
    ],
)
def test_the_images_with_clients_differ_by_those_alone(name: str, clients: set[str]) -> None:
    further = {re.split(r"[=\[]", each)[0] for each in _locked(name) - _locked("requirements.lock")}
    assert further == clients
    assert _locked("requirements.lock") < _locked(name)


def test_only_what_is_copied_goes_to_the_builder() -> None:
    kept = {line[1:] for line in (REPOSITORY / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    lines = re.findall(r"^COPY (?!--from)(.+) \S+$", _TEXT, re.MULTILINE)
    copied = {name for line in lines for name in line.split()}
    assert copied == kept == {*_IN_IMAGE, *_LOCKS}


def test_nothing_but_the_result_of_the_build_is_kept() -> None:
    assert len(re.findall(r"^FROM .*-slim( AS build)?$", _TEXT, re.MULTILINE)) == 2
    assert "pip install" not in _LAST_STAGE


def test_its_health_is_asked_for_as_ecs_asks() -> None:
    found = re.search(r"^HEALTHCHECK .*\n\s+CMD (\[.*\])$", _TEXT, re.MULTILINE)
    assert found is not None
    command = json.loads(found[1])
    task = (REPOSITORY / "terraform/modules/gateway-ecs/main.tf").read_text()
    assert json.dumps(["CMD", *command]) in task
    assert "/healthz" in command[-1]


def test_its_variables_are_settings() -> None:
    names = re.findall(r"\bGATEWAY_([A-Z_]+)=", _TEXT)
    assert names
    assert {name.lower() for name in names} <= Settings.model_fields.keys()
