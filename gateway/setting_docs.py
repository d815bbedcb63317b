"""Writes the tables of docs/settings.md from the settings: `python -m gateway.setting_docs docs/settings.md`."""

import ast
import inspect
import json
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from gateway.setting_types import ClientSettings, IssuerSettings, SiloSettings, SupportSettings
from gateway.settings import Settings

# the first column of a table's header says whose settings it lists
_MODELS: dict[str, type[BaseModel]] = {
    "setting": Settings,
    "setting of an issuer": IssuerSettings,
    "setting of a client": ClientSettings,
    "setting of support access": SupportSettings,
    "setting of a silo": SiloSettings,
}


def fresh(page: str) -> str:
    """The page with every row updated from the code; the page decides which setting appears where."""
    lines, model = [], None
    for line in page.splitlines():
        first = line.split("|")[1].strip() if line.startswith("| ") else None
        model = None if first is None and not line.startswith("|") else _MODELS.get(first or "", model)
        name = (first or "").strip("`")
        is_setting = model is not None and first == f"`{name}`" and name in model.model_fields
        lines.append(_row(name, model) if model is not None and is_setting else line)
    return "\n".join(lines) + "\n"


def missing(page: str) -> list[str]:
    """The settings without a row."""
    rows = set(page.splitlines())
    return [name for model in _MODELS.values() for name in model.model_fields if _row(name, model) not in rows]


def _row(name: str, model: type[BaseModel]) -> str:
    description = " ".join(_descriptions(model).get(name, "").split())
    return f"| `{name}` | {_default(model.model_fields[name])} | {description} |"


@cache
def _descriptions(model: type[BaseModel]) -> dict[str, str]:
    """The texts below the fields. Pydantic would read the source of every model for them whenever a gateway starts."""
    [defined] = ast.parse(inspect.getsource(model)).body
    assert isinstance(defined, ast.ClassDef)  # noqa: S101  the source of a class at the top of its module
    return {
        field.target.id: text.value.value
        for field, text in pairwise(defined.body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str)
    }


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value: Any = field.default
    if value is None or value in ([], {}):
        return "none"
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(fresh(path.read_text(encoding="utf-8")), encoding="utf-8")
