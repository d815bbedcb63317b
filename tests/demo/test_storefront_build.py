"""The built order desk is that of the sources beside it, asks what the schema has, and no other host; without Node."""

import json
import re
from hashlib import sha256
from pathlib import Path

import pytest
from graphql import OperationDefinitionNode, parse, validate

from gateway.graph.schema.schema import core_schema
from tests.graph.fixtures import SCHEMA
from tests.graph.playground.test_playground_build import ADDRESS, FETCHED, content, files_under

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "examples" / "storefront"
FOLDER = ROOT / "gateway" / "demo" / "storefront"
MANIFEST = json.loads((FOLDER / "manifest.json").read_text())
REBUILD = "the order desk is not built from these sources: run `make storefront`"

# Names of vocabularies, and links in texts that nothing follows by itself. Look at what brings a new one along.
NAMED = frozenset({"www.w3.org", "react.dev"})
MOST_SCRIPT = 400_000
DOCUMENT = re.compile(r"/\* GraphQL \*/ `([^`]*)`")

BUILT = {name.removesuffix(".gz"): path for name, path in files_under(FOLDER).items() if name != "manifest.json"}
# what codegen writes is not kept, and what only people read changes nothing
WRITTEN = {
    name: path
    for name, path in files_under(SOURCES).items()
    if not name.startswith("src/gql/") and not name.endswith(".md")
}
SCRIPTS = {name: path.read_text() for name, path in WRITTEN.items() if name.endswith((".ts", ".tsx"))}
DOCUMENTS = {name: DOCUMENT.findall(text) for name, text in SCRIPTS.items() if DOCUMENT.search(text)}
EVERYTHING = parse("\n".join(text for texts in DOCUMENTS.values() for text in texts))
OPERATIONS = [
    each.name.value for each in EVERYTHING.definitions if isinstance(each, OperationDefinitionNode) and each.name
]


def test_the_build_is_fresh() -> None:
    """As pack.mjs counts: the hash of every source, in the order of their names."""
    lines = [f"{name} {sha256(WRITTEN[name].read_bytes()).hexdigest()}\n" for name in sorted(WRITTEN)]
    assert sha256("".join(lines).encode()).hexdigest() == MANIFEST["sources"], REBUILD


def test_nobody_has_touched_what_was_built() -> None:
    assert {name: sha256(content(path)).hexdigest() for name, path in BUILT.items()} == MANIFEST["files"], REBUILD


def test_every_document_is_valid_for_the_schema() -> None:
    """All of them at once: fragments are shared between files, and names of operations are unique."""
    assert [error.message for error in validate(core_schema(SCHEMA), EVERYTHING)] == []


def test_no_document_is_missed() -> None:
    tagged = {name: text.count("graphql(") for name, text in SCRIPTS.items() if "graphql(" in text}
    assert {name: len(texts) for name, texts in DOCUMENTS.items()} == tagged
    # an operation without a name would have none in logs either
    assert len(OPERATIONS) == sum(isinstance(each, OperationDefinitionNode) for each in EVERYTHING.definitions) >= 8


def test_what_was_built_asks_these_operations() -> None:
    script = "".join(content(path).decode() for name, path in BUILT.items() if name.endswith(".js"))
    assert [name for name in OPERATIONS if f"value:`{name}`" not in script and f'value:"{name}"' not in script] == []


def test_the_script_is_small() -> None:
    sizes = {name: len(content(path)) for name, path in BUILT.items() if name.endswith(".js")}
    assert 0 < sum(sizes.values()) < MOST_SCRIPT


def test_versions_are_pinned_and_no_registry_is_named() -> None:
    package = json.loads((SOURCES / "package.json").read_text())
    versions = [*package["dependencies"].values(), *package["devDependencies"].values()]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in versions)
    lock = (SOURCES / "package-lock.json").read_text()
    assert '"resolved"' not in lock
    entries = {name: entry for name, entry in json.loads(lock)["packages"].items() if name}
    assert all(entry.get("integrity") for entry in entries.values())
    # where one of them is missing, `npm ci` fails on other machines than the one that wrote the lock
    optional = {name for entry in entries.values() for name in entry.get("optionalDependencies", {})}
    assert optional - {name.rpartition("node_modules/")[2] for name in entries} == set()
    # npm does not run them by itself, so nothing may need one
    assert [name for name, entry in entries.items() if entry.get("hasInstallScript")] == []


@pytest.mark.parametrize("name", sorted(set(BUILT) - {"licenses.md"}))
def test_no_file_fetches_anything_from_another_host(name: str) -> None:
    text = content(BUILT[name]).decode(errors="replace")
    assert FETCHED.findall(text) == []
    assert {host for host in ADDRESS.findall(text) if host} - NAMED == set()


def test_the_licences_of_what_is_built_in_come_along() -> None:
    text = (FOLDER / "licenses.md").read_text()
    for package in ("react", "react-dom", "urql", "@urql/core", "graphql-ws", "wonka"):
        assert re.search(rf"^## {re.escape(package)} - ", text, re.MULTILINE), package
