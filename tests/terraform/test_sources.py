"""The sources by themselves: form, versions, what is generated."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from gateway.demo import MODEL
from gateway.ops.capacity.demand import expected_units
from tests.terraform.tool import REPOSITORY, ROOTS, SOURCES, variables

_FILES = sorted(path for path in SOURCES.rglob("*.tf") if ".terraform" not in path.parts)
_INPUT = "".join(path.read_text() for path in sorted((SOURCES / "modules/stack/input").glob("*.tf")))
# what the stack takes as it is and gives its type in a second step, to see what the type would drop; `provisioned` of
# an environment is a part of its `capacity`
_CHECKED = {*re.findall(r'^variable "(\w+)" \{\n  type = (?!any)', _INPUT, re.MULTILINE), "provisioned"}
_VARIABLE = re.compile(r'^variable "(?P<name>\w+)" \{\n(?P<body>.*?)^\}', re.MULTILINE | re.DOTALL)


def test_every_module_environment_and_example_is_there() -> None:
    modules = {"audit", "dax", "files", "gateway-ecs", "iam", "kms", "network", "observability", "stack", "table"}
    assert set(ROOTS) == {f"modules/{name}" for name in modules} | {"examples/minimal", "envs/dev", "envs/prod"}


def test_the_sources_are_formatted(sources: Path) -> None:
    found = subprocess.run(
        ["terraform", "fmt", "-check", "-recursive", "-diff", str(SOURCES)],
        env=variables(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout


def test_the_table_is_what_the_model_says() -> None:
    expected = json.dumps({**MODEL.table.terraform_inputs(), "expected": expected_units(MODEL)}, indent=2) + "\n"
    assert (SOURCES / "table.json").read_text() == expected, "run `gateway terraform-inputs`"


@pytest.mark.parametrize("path", _FILES, ids=lambda path: str(path.relative_to(SOURCES)))
def test_no_file_is_long(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 350


@pytest.mark.parametrize("root", ROOTS)
def test_only_the_provider_of_aws_is_used(root: str) -> None:
    text = (SOURCES / root / "versions.tf").read_text()
    assert re.findall(r'source\s+= "(.*)"', text) == ["hashicorp/aws"]
    assert 'version = ">= 5.100, < 7.0"' in text
    assert 'required_version = ">= 1.11"' in text


@pytest.mark.parametrize("root", ROOTS)
def test_every_variable_has_a_description_and_a_type_that_is_any_only_where_the_stack_checks_it(root: str) -> None:
    for found in _VARIABLE.finditer((SOURCES / root / "variables.tf").read_text()):
        declared = re.search(r"^  type\s+= (.*)$", found["body"], re.MULTILINE)
        assert declared is not None, found["name"]
        if declared[1] == "any":
            assert root == "modules/stack" or root.startswith("envs/"), found["name"]
            assert found["name"] in _CHECKED, found["name"]
        else:
            assert not re.search(r"\bany\b", found["body"].partition("type")[2]), found["name"]
        assert re.search(r'^  description\s+= "\S', found["body"], re.MULTILINE), found["name"]


def test_the_tables_in_the_readmes_are_fresh() -> None:
    found = subprocess.run(
        [str(REPOSITORY / "scripts" / "terraform-docs"), "--check"], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize("environment", ["dev", "prod"])
def test_the_state_can_move_to_a_bucket_with_a_lock_of_its_own(environment: str) -> None:
    folder = SOURCES / "envs" / environment
    text = (folder / "backend.tf.example").read_text()
    assert "use_lockfile = true" in text
    assert "dynamodb_table" not in text
    assert f"gateway/{environment}/" in text
    # without it the first apply works on any machine
    assert not (folder / "backend.tf").exists()


def test_no_policy_of_a_tenant_is_written_a_second_time() -> None:
    for path in _FILES:
        assert "LeadingKeys" not in path.read_text(), path
