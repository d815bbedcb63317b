"""Where a faulty declaration stands in the source of its domain, for messages: `clinic/patient.py:35`."""

import ast
import re
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

_FAULT = re.compile(r"(entity|pattern|choice|mutation|query|role|watch) ([\w-]+): (.*)", re.DOTALL)
_CLASSES = {
    "entity": ("Entity",),
    "pattern": ("Lookup", "Listing", "ItemCollection"),
    "choice": ("Choice",),
    "mutation": ("Mutation",),
    "query": ("CustomQuery",),
    "role": ("Role",),
    "watch": ("Watch",),
}


def with_line(fault: str, packages: Collection[str]) -> str:
    """The fault with its line, where exactly one declaration in these packages is the one that it names."""
    match = _FAULT.fullmatch(fault)
    if match is None:
        return fault
    kind, name, text = match.groups()
    declarations = [
        (path, call)
        for path in _sources(packages)
        for call in _calls(ast.parse(path.read_text(encoding="utf-8")))
        if _class_of(call) in _CLASSES[kind] and _name_of(call) == name
    ]
    if len(declarations) != 1:
        return fault
    [(path, declaration)] = declarations
    here = Path.cwd()
    shown = path.relative_to(here) if path.is_relative_to(here) else path
    return f"{fault} ({shown}:{_line(declaration, text)})"


def _sources(packages: Collection[str]) -> Iterator[Path]:
    """The files of the modules that are loaded from the packages."""
    for name, module in sorted(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if name.partition(".")[0] in packages and isinstance(path, str) and path.endswith(".py"):
            yield Path(path)


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _class_of(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def _name_of(call: ast.Call) -> object:
    values = [keyword.value for keyword in call.keywords if keyword.arg == "name"] or call.args[:1]
    return values[0].value if values and isinstance(values[0], ast.Constant) else None


def _line(declaration: ast.Call, text: str) -> int:
    """Of the member or the option that the fault names first, else of the declaration itself."""
    named = re.match(r"[^`]*`(\w+)`", text)
    name = named[1] if named else ""
    for call in _calls(declaration):
        if call is not declaration and _name_of(call) == name:
            return call.lineno
    return next((keyword.value.lineno for keyword in declaration.keywords if keyword.arg == name), declaration.lineno)
