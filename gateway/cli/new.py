"""`gateway new`: creates a package with your own domain, its tests, policies, image and Terraform."""

import keyword
import re
import sys
from collections.abc import Mapping
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from gateway import __version__
from gateway.cli.options import exit_on_error
from gateway.errors import BadUserInput

_TEMPLATES = Path(str(files("gateway.templates"))) / "domain"
_SUFFIX = ".tmpl"
_NAME = re.compile(r"[a-z][a-z0-9_]{1,39}")
_MODULES = f"git::https://git.example.com/platform/gateway.git//terraform/modules/stack?ref=v{__version__}"


def new(
    name: Annotated[str, typer.Argument(help="Name of the domain and its package, such as clinic.")],
    modules: Annotated[str, typer.Option(help="Address of the Terraform module `stack` of this project.")] = _MODULES,
) -> None:
    """Create a package for your own domain, with tests, policies, a Dockerfile and Terraform."""
    with exit_on_error():
        _check_name(name)
        directory = Path(name)
        if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
            raise BadUserInput(f"`{directory}` exists and is not an empty folder; choose another name or empty it")
        _render(directory, _values(name, modules))
        _generate(directory, f"{name}.domain")
        # moto is what the sandbox needs first
        install = "" if find_spec("moto") else "\n  pip install -e '.[dev]'"
        typer.echo(f"created {directory}; next:\n  cd {directory}{install}\n  gateway dev")


def _check_name(name: str) -> None:
    if keyword.iskeyword(name) or keyword.issoftkeyword(name):
        raise BadUserInput(f"`{name}` is a Python keyword; choose another name")
    if not _NAME.fullmatch(name) or name.endswith("_"):
        raise BadUserInput(
            f"`{name}` cannot be the name of a package: use 2 to 40 letters a-z, digits and `_`, starting with a "
            "letter, such as `clinic`"
        )
    if name in sys.stdlib_module_names or name == "tests" or _is_installed(name):
        raise BadUserInput(f"`{name}` is the name of another Python module; choose another name")


def _is_installed(name: str) -> bool:
    """Whether there is a module of this name; an empty folder in the current directory does not count."""
    spec = find_spec(name)
    return spec is not None and spec.origin is not None


def _values(name: str, modules: str) -> Mapping[str, str]:
    return {
        "name": name,
        "distribution": name.replace("_", "-"),
        "title": name.replace("_", " ").capitalize(),
        "version": __version__,
        "modules": modules,
    }


def _render(directory: Path, values: Mapping[str, str]) -> None:
    for template in sorted(_TEMPLATES.rglob(f"*{_SUFFIX}")):
        place = str(template.relative_to(_TEMPLATES)).removesuffix(_SUFFIX)
        if place == "gitignore":
            place = ".gitignore"  # a file of this name would hide others from the build of the wheel
        path = directory / _filled(place.replace("package/", "@name@/"), values)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_filled(template.read_text(encoding="utf-8"), values), encoding="utf-8")


def _filled(text: str, values: Mapping[str, str]) -> str:
    return re.sub("@([a-z]+)@", lambda match: values[match[1]], text)


def _generate(directory: Path, domain: str) -> None:
    """The files that are generated from the domain, as its commands write them."""
    from gateway.cli.generate import table_json
    from gateway.domains import load_domains
    from gateway.ops.policies.files import write_policies
    from gateway.ops.record_classes import record_classes

    sys.path.insert(0, str(directory.resolve()))
    served = load_domains([domain])
    write_policies(directory / "policies", served.model)
    (directory / "schema.graphql").write_text(served.schema.as_str() + "\n", encoding="utf-8")
    (directory / "terraform" / "table.json").write_text(table_json(served.model), encoding="utf-8")
    (directory / directory.name / "records.py").write_text(record_classes(served.model), encoding="utf-8")
