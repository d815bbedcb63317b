"""The pages about the code name folders, files and symbols that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PAGES = [
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
    "bench/README.md",
    *(str(page.relative_to(ROOT)) for page in sorted((ROOT / "docs" / "adr").glob("*.md"))),
    "docs/README.md",
    "docs/architecture.md",
    "docs/glossary.md",
]
STEPS = re.findall(r"((?:`\w+`, )*`\w+`) \(`(gateway/[\w/]+\.py)`\)", " ".join(ARCHITECTURE.split()))


def test_the_path_of_a_request_is_found() -> None:
    assert len(STEPS) > 20


@pytest.mark.parametrize(("symbols", "file"), STEPS, ids=[f"{symbols} {file}" for symbols, file in STEPS])
def test_the_path_of_a_request_names_symbols_where_they_are(symbols: str, file: str) -> None:
    source = (ROOT / file).read_text(encoding="utf-8")
    for symbol in re.findall(r"`(\w+)`", symbols):
        assert re.search(rf"^(async def|def|class) {symbol}\b", source, re.MULTILINE), symbol


def test_the_rooms_of_the_architecture_page_exist() -> None:
    table = ARCHITECTURE.partition("| Room | Question |")[2].partition("\n\n")[0]
    rooms = re.findall(r"^\| `([\w/]+)` \|", table, re.MULTILINE)
    assert rooms
    for room in rooms:
        assert (ROOT / "gateway" / room / "__init__.py").exists(), room


def test_every_room_is_on_the_architecture_page() -> None:
    table = ARCHITECTURE.partition("| Room | Question |")[2].partition("\n\n")[0]
    for folder in sorted((ROOT / "gateway").glob("*/__init__.py")):
        assert re.search(rf"^\| `{folder.parent.name}[`/]", table, re.MULTILINE), folder.parent.name


def test_the_direction_of_imports_is_that_of_import_linter() -> None:
    contract = (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition('name = "rooms point down"')[2]
    layers = re.findall(r'"(gateway\.[^"]+)"', contract.partition("]")[0])
    shown = re.search(r"^cli > .*$", ARCHITECTURE, re.MULTILINE)
    assert shown
    assert shown[0].split(" > ") == [
        layer.replace("gateway.", "").replace(" | ", ", ") for layer in layers if "__main__" not in layer
    ]


@pytest.mark.parametrize("page", PAGES)
def test_files_that_a_page_names_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for path in re.findall(r"`((?:gateway|tests|docs|bench|scripts|terraform|policies)/[\w./-]+)`", text):
        assert (ROOT / path).exists(), path
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert ((ROOT / page).parent / target).exists(), target


def test_a_decision_is_short_and_listed() -> None:
    folder = ROOT / "docs" / "adr"
    index = (folder / "README.md").read_text(encoding="utf-8")
    for page in sorted(folder.glob("0*.md")):
        text = page.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 20, page.name
        assert f"[{text.splitlines()[0].removeprefix('# ')}]({page.name})" in index
