"""`from gateway import ...` is the one import of a domain: the names, their documentation and who uses them."""

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import gateway
from tests.sources import PACKAGE, sources

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "docs" / "your-own-domain.md"
SUBMODULES = {module.name for module in pkgutil.iter_modules(gateway.__path__)}
ADOPTERS = [*(ROOT / "gateway" / "demo").rglob("*.py"), *(ROOT / "examples").rglob("*.py")]


def imports(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each module that a text imports from, with the names."""
    return imported(ast.walk(ast.parse(text)))


def imported(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            yield node.module or "", tuple(alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, ()) for alias in node.names)


@pytest.mark.parametrize("name", gateway.__all__)
def test_every_public_name_resolves_and_is_documented(name: str) -> None:
    value = getattr(gateway, name)
    if inspect.isclass(value) or inspect.isroutine(value):
        words = inspect.getdoc(value) or ""
        assert words
        # what a dataclass without a docstring has
        assert not words.startswith(f"{name}(")
    assert f"`{name}`" in GUIDE.read_text().partition(". The public names\n")[2], f"the guide does not list {name}"


def test_nothing_else_is_public() -> None:
    assert len(set(gateway.__all__)) == len(gateway.__all__)
    plain = {name for name in dir(gateway) if not name.startswith("_")}
    # what the module itself needs: importlib and typing
    assert plain - SUBMODULES - {"importlib", "TYPE_CHECKING", "Any"} == set(gateway.__all__)
    assert set(gateway.__all__) & SUBMODULES == set()
    with pytest.raises(AttributeError, match="no attribute 'Loader'"):
        gateway.Loader  # noqa: B018


def test_type_checkers_see_the_same_names_from_the_same_modules() -> None:
    [block] = [node for node in ast.parse(Path(gateway.__file__).read_text()).body if isinstance(node, ast.If)]
    seen = {
        (alias.name, alias.asname, node.module)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == {(name, name, module) for module, names in gateway._PUBLIC.items() for name in names}


def test_the_policy_language_loads_no_other_part_and_no_third_party_module() -> None:
    code = "import sys; before = set(sys.modules); import gateway.iam.language; print(*(set(sys.modules) - before))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {name for name in loaded if name.partition(".")[0] not in {*sys.stdlib_module_names, "gateway"}} == set()
    own = {name for name in loaded if name.startswith("gateway.") and not name.startswith("gateway.iam.language.")}
    assert own == {"gateway.iam", "gateway.iam.language"}


@pytest.mark.parametrize("path", ADOPTERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_demo_domains_and_examples_import_from_the_public_face_only(path: Path) -> None:
    for module, names in imports(path.read_text()):
        assert not module.startswith("gateway.") or module.startswith(("gateway.demo", "gateway.testing")), module
        assert module != "gateway" or set(names) <= {*gateway.__all__}


def test_the_guide_imports_from_the_public_face_only() -> None:
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert len(blocks) >= 4
    for module, names in (found for block in blocks for found in imports(block)):
        # tests of a domain need a module of their own, because it needs pytest
        assert module == "gateway.testing" or not module.startswith("gateway.")
        assert module != "gateway" or set(names) <= {*gateway.__all__}


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_pages_import_from_the_public_face_only(page: Path) -> None:
    modules = re.findall(r"^(?:from|import) (gateway\.[\w.]+)", page.read_text(), re.MULTILINE)
    if page.name != "testing-policies.md":  # that one is about policies without a domain
        assert set(modules) <= {"gateway.testing"}


def test_inside_the_package_only_the_demo_uses_the_public_face() -> None:
    for path, source in sources().items():
        if "demo" not in path.relative_to(PACKAGE).parts:
            for module, names in imported(source.imports):
                assert module != "gateway" or set(names) <= {"__version__", *SUBMODULES}, path


def test_each_name_is_what_its_module_defines() -> None:
    for module, names in gateway._PUBLIC.items():
        home = importlib.import_module(module)
        assert all(getattr(home, name) is getattr(gateway, name) for name in names)
