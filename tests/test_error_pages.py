"""Every error code has a page that says what it means, what causes it and what a client does about it."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import gateway
from gateway.demo import MODEL
from gateway.errors import GatewayError
from gateway.model.error_code import UserErrorCode

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "errors"
_CODE = re.compile(r'"([A-Z]{3,}(?:_[A-Z]{2,})+)"')
HEADINGS = ["## Meaning", "## Cause", "## What the client does"]


def kinds(kind: type[GatewayError]) -> Iterator[type[GatewayError]]:
    yield kind
    for each in kind.__subclasses__():
        yield from kinds(each)


def raised() -> set[str]:
    """Of every error class, wherever it is declared."""
    for module in pkgutil.walk_packages(gateway.__path__, "gateway."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return {kind.code for kind in kinds(GatewayError)}


def written() -> set[str]:
    """Those that the GraphQL room writes without a class, such as a failed validation."""
    sources = (ROOT / "gateway" / "graph").rglob("*.py")
    return {code for path in sources for code in _CODE.findall(path.read_text())}


CODES = sorted(raised() | written() | {code.name for code in (*UserErrorCode, *MODEL.error_codes)})


def test_the_codes_are_found() -> None:
    assert {"GRAPHQL_VALIDATION_FAILED", "BAD_REQUEST"} <= written()
    assert {"FORBIDDEN", "OUT_OF_STOCK", "TIMEOUT", "INTERNAL"} <= set(CODES)


@pytest.mark.parametrize("code", CODES)
def test_every_code_has_a_page(code: str) -> None:
    lines = (PAGES / f"{code}.md").read_text().splitlines()
    assert lines[0] == f"# {code}"
    assert [line for line in lines if line.startswith("## ")] == HEADINGS
    for heading in HEADINGS:
        below = lines[lines.index(heading) + 1 :]
        words = " ".join(below[: next((n for n, line in enumerate(below) if line.startswith("## ")), len(below))])
        assert len(words.split()) > 4, heading


def test_there_is_no_page_of_a_code_that_is_gone() -> None:
    assert {path.stem for path in PAGES.glob("*.md")} - {"README"} == set(CODES)


def test_the_index_lists_every_page_and_links_lead_somewhere() -> None:
    index = (PAGES / "README.md").read_text()
    assert set(re.findall(r"\]\(([A-Z_]+)\.md\)", index)) == set(CODES)
    for page in PAGES.glob("*.md"):
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text()):
            assert (PAGES / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize("code", CODES)
def test_the_changelog_names_every_code(code: str) -> None:
    assert f"`{code}`" in (ROOT / "CHANGELOG.md").read_text()
