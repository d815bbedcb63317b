"""The README shows what the code does: its declaration, its query, its refusal and its figures."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from gateway.cli.main import app as commands
from gateway.graph.schema.schema import build_schema
from gateway.model import entity, patterns, types
from gateway.model.model import Domain, Model
from gateway.sandbox.sandbox import Sandbox
from tests.fixtures import client_of, post, sandbox_app

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "README.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert found, language
    return found[1]


def test_it_fits_on_one_screen() -> None:
    assert len(PAGE.splitlines()) <= 90


def test_the_declaration_is_a_model_with_the_query() -> None:
    names = {**vars(entity), **vars(patterns), **vars(types)}
    exec(block("python"), names)  # noqa: S102  our own page
    domain = Domain(
        name="readme", description="The README's example.", entities=(names["USER"],), patterns=names["PATTERNS"]
    )
    schema = build_schema(Model(domains=(domain,))).as_str()
    assert "user(" in schema
    assert "users(" in schema


async def test_a_viewer_gets_the_answer_that_is_shown(sandbox: Sandbox) -> None:
    assert await readme_answer(sandbox, "viewer") == json.loads(block("json"))


async def test_support_is_refused_the_personal_attributes(sandbox: Sandbox) -> None:
    answer = await readme_answer(sandbox, "support")
    assert answer["data"] == {"user": {"userId": "u-1006", "name": None, "email": None}}
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["FORBIDDEN", "FORBIDDEN"]


async def readme_answer(sandbox: Sandbox, role: str) -> Any:
    async with client_of(sandbox_app(sandbox)) as client:
        return (await post(client, block("graphql"), None, sandbox.token("acme", role))).json()


def test_the_refusal_is_what_the_command_prints() -> None:
    found = re.search(r"^\$ gateway (.*\\\n.*)\n((?:.+\n)+?)```", PAGE, re.MULTILINE)
    assert found
    result = CliRunner().invoke(commands, shlex.split(found[1].replace("\\\n", "")))
    assert result.stdout.startswith(found[2])


def test_the_figures_are_those_of_the_benchmarks() -> None:
    benchmarks = (ROOT / "bench" / "README.md").read_text(encoding="utf-8")
    figures = re.findall(r"([\d,]+)\sµs", PAGE)
    assert figures
    for figure in figures:
        assert re.search(rf"\| *\**{figure}\** *\|", benchmarks), figure


def test_the_list_of_pages_is_complete() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "README.md" or f"({page.name})" in index, page.name
