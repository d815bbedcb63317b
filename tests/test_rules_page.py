"""The examples of docs/rules.md run, and what they declare is right."""

import re
from pathlib import Path

import pytest

from gateway.model.checks.declarations import type_faults
from gateway.model.entity import Attribute, Reference
from gateway.model.types import AttributeType

PAGE = Path(__file__).parents[1] / "docs" / "rules.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def test_the_page_has_an_example_for_each_kind_of_rule() -> None:
    assert len(BLOCKS) == 5


@pytest.mark.parametrize("block", BLOCKS)
def test_an_example_declares_what_is_right(block: str) -> None:
    names: dict[str, object] = {}
    imports, _, declared = block.partition("\n\n")
    exec(imports, names)  # noqa: S102  our own page
    lines = [line for line in declared.splitlines() if line]
    for line in lines:
        value = eval(line, names)  # noqa: S307  our own page
        assert isinstance(value, AttributeType | Attribute | Reference)
        kind = value if isinstance(value, AttributeType) else getattr(value, "type", None)
        assert kind is None or [*type_faults(kind)] == []
    assert lines
