"""The policy language can be used by itself, as the docstring of its package shows."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from gateway.cli.options import exit_on_error
from gateway.iam import language
from gateway.iam.language.document import parse

_IMPORTED = """
import importlib, pkgutil, sys
from gateway.iam import language
for module in pkgutil.iter_modules(language.__path__):
    importlib.import_module(f"{language.__name__}.{module.name}")
print(*sorted(name for name in sys.modules if name.partition(".")[0] not in sys.stdlib_module_names))
"""


def test_the_example_of_the_package_runs() -> None:
    tests = doctest.testmod(language)
    assert tests.attempted >= 8
    assert tests.failed == 0


def test_the_example_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = Path(__file__).parents[3].joinpath("docs", "testing-policies.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```py(?:thon)?\n(.*?)```", page, re.DOTALL)
    policy = next(block for block in blocks if "POLICY = {" in block)
    example = next(block for block in blocks if "evaluate(" in block)
    exec(policy + example, {})  # noqa: S102  # the code of our own page
    reason = capsys.readouterr().out.strip()
    assert f"``{reason}``" in " ".join(page.split())


def test_it_imports_the_standard_library_only() -> None:
    lines = subprocess.run([sys.executable, "-c", _IMPORTED], check=True, capture_output=True, text=True).stdout.split()
    others = [name for name in lines if not name.startswith(("gateway.iam.language", "_", "__"))]
    assert others == ["gateway", "gateway.iam"]


def test_a_command_reports_an_invalid_document_without_a_stack_trace(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit), exit_on_error():
        parse({"Statement": []}, "identity")
    assert capsys.readouterr().err == "Statement must be an object or a list of objects, and not empty\n"
