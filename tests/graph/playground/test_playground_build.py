"""The built playground is that of the sources beside it, and asks no other host for anything; no Node is needed."""

import gzip
import json
import re
from hashlib import sha256
from pathlib import Path

import pytest

from gateway.graph.playground.built_page import FOLDER

SOURCES = Path(__file__).parents[3] / "playground"
MANIFEST = json.loads((FOLDER / "manifest.json").read_text())
REBUILD = "the playground is not built from these sources: run `make playground`"

# Names of vocabularies, and links in texts that nothing follows by itself. Look at what brings a new one along.
NAMED = frozenset(
    {
        *("www.w3.org", "json-schema.org", "github.com", "code.visualstudio.com", "react.dev", "prettier.io"),
        *("en.wikipedia.org", "commonmark.org", "www.onegraph.com", "microsoft.com", "fontello.com", "yarnpkg.com"),
    }
)
ADDRESS = re.compile(r"(?:https?|wss?):\\?/\\?/([a-zA-Z0-9.-]+)")
# an address right behind what fetches it
FETCHED = re.compile(
    r"(?:\b(?:fetch|import|importScripts|Worker|WebSocket|EventSource|sendBeacon|open|url)\s*\(\s*|\bfrom\s*|@import\s*"
    r"|\b(?:src|srcset|action)\s*=\s*|<link[^>]+href\s*=\s*)[\"'`]?(?:(?:https?|wss?):)?//"
)


def files_under(folder: Path) -> dict[str, Path]:
    tops = (path for path in folder.iterdir() if path.name != "node_modules")
    found = (path for top in tops for path in ([top] if top.is_file() else top.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path for path in found}


def content(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


BUILT = {name.removesuffix(".gz"): path for name, path in files_under(FOLDER).items() if name != "manifest.json"}


def test_the_build_is_fresh() -> None:
    """As pack.mjs counts: the hash of every source, in the order of their names."""
    sources = files_under(SOURCES)
    lines = [f"{name} {sha256(sources[name].read_bytes()).hexdigest()}\n" for name in sorted(sources)]
    assert sha256("".join(lines).encode()).hexdigest() == MANIFEST["sources"], REBUILD


def test_nobody_has_touched_what_was_built() -> None:
    assert {name: sha256(content(path)).hexdigest() for name, path in BUILT.items()} == MANIFEST["files"], REBUILD


def test_versions_are_pinned_and_no_registry_is_named() -> None:
    package = json.loads((SOURCES / "package.json").read_text())
    versions = [*package["dependencies"].values(), *package["devDependencies"].values()]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in versions)
    lock = (SOURCES / "package-lock.json").read_text()
    assert '"resolved"' not in lock
    assert all(entry.get("integrity") for name, entry in json.loads(lock)["packages"].items() if name)


@pytest.mark.parametrize("name", sorted(set(BUILT) - {"licenses.md"}))
def test_no_file_fetches_anything_from_another_host(name: str) -> None:
    text = content(BUILT[name]).decode(errors="replace")
    assert FETCHED.findall(text) == []
    assert {host for host in ADDRESS.findall(text) if host} - NAMED == set()


@pytest.mark.parametrize(
    "text",
    [
        'fetch("https://x.example")',
        "fetch(`//x.example`)",
        "import('//x.example/a.js')",
        'import a from "https://x.example"',
        '<script src="https://x.example">',
        '<link rel="a" href="//x.example">',
        "new WebSocket('wss://x.example')",
        "new Worker('http://x.example')",
        "@import 'https://x.example'",
        "url(https://x.example/a.png)",
        "image.src=`//x.example`",
    ],
)
def test_what_is_looked_for_would_be_found(text: str) -> None:
    assert FETCHED.search(text)


def test_the_licences_of_what_is_built_in_come_along() -> None:
    text = (FOLDER / "licenses.md").read_text()
    for package in ("graphiql", "monaco-editor", "react", "graphql"):
        assert re.search(rf"^## {package} - ", text, re.MULTILINE), package
