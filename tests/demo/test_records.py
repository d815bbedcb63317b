"""The typed items of the demo domains are those of their models."""

import importlib
from pathlib import Path

import pytest

from gateway.domains import load_domains
from gateway.ops.record_classes import record_classes
from gateway.settings import DEMO_DOMAINS


@pytest.mark.parametrize("name", DEMO_DOMAINS)
def test_the_records_are_those_of_the_model(name: str) -> None:
    [folder] = importlib.import_module(name).__path__
    path = Path(folder) / "records.py"
    assert path.read_text() == record_classes(load_domains([name]).model), (
        f"run `gateway records --domains {name} --path {path}`"
    )
