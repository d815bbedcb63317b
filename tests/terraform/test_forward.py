"""The sources are written for provider 5.100 and 6.x: every argument that they set is also one of 6.x."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.terraform.hcl import Block, used
from tests.terraform.tool import SOURCES

_SCHEMA = json.loads((Path(__file__).parent / "schema6.json").read_text())
_TYPES: dict[str, dict[str, Any]] = _SCHEMA["types"]
_USED = used(path for path in SOURCES.rglob("*.tf") if ".terraform" not in path.parts)
# the package that the schema comes from knows no ephemeral resources; the other one is Terraform's own
_UNKNOWN = {"ephemeral.aws_secretsmanager_random_password", "resource.terraform_data"}


def test_the_snapshot_is_of_provider_6_and_has_every_type_that_is_used() -> None:
    assert _SCHEMA["provider"].startswith("6.")
    assert set(_USED) - set(_TYPES) == _UNKNOWN, "run scripts/terraform-schema"
    assert set(_TYPES) <= set(_USED), "run scripts/terraform-schema"


def test_arguments_are_found_also_in_blocks_that_are_made_for_each() -> None:
    (table,) = _USED["resource.aws_dynamodb_table"]
    assert {
        "billing_mode",
        "ttl.attribute_name",
        "global_secondary_index.projection_type",
        "global_secondary_index.on_demand_throughput.max_read_request_units",
    } <= set(table.paths())
    assert "for_each" not in table.paths()


@pytest.mark.parametrize("name", sorted(set(_USED) - _UNKNOWN))
def test_every_argument_is_one_of_provider_6(name: str) -> None:
    known = set(_known(_TYPES[name]))
    for block in _USED[name]:
        assert set(block.paths()) <= known, block.labels


@pytest.mark.parametrize("name", sorted(set(_USED) - _UNKNOWN))
def test_what_provider_6_requires_is_set(name: str) -> None:
    for block in _USED[name]:
        assert not set(_missing(block, _TYPES[name])), block.labels


def _known(arguments: Mapping[str, Any], before: str = "") -> Iterator[str]:
    for name, entry in arguments.items():
        yield before + name
        yield from _known(entry.get("block", {}), f"{before}{name}.")


def _missing(block: Block, arguments: Mapping[str, Any]) -> Iterator[str]:
    given = block.arguments | {each.kind for each in block.blocks}
    yield from (name for name, entry in arguments.items() if entry.get("required") and name not in given)
    for each in block.blocks:
        if each.kind in arguments:
            yield from _missing(each, arguments[each.kind].get("block", {}))
