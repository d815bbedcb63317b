"""Loads domains by name: an entry point of the group `gateway.domains`, or a module with a `DOMAIN`.

See docs/your-own-domain.md.
"""

import importlib
import re
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from gateway.declaration_lines import with_line
from gateway.errors import ConfigurationError, ModelError
from gateway.iam.policies.generate import size_faults
from gateway.iam.policies.roles import roles_of
from gateway.model.model import Domain, Model

if TYPE_CHECKING:
    from strawberry import Schema

GROUP: Final = "gateway.domains"
NONE_NAMED: Final = (
    """domains: none is named; set GATEWAY_DOMAINS, such as '["helpdesk.domain"]', or give --domains to a command"""
)
_PACKAGE: Final = Path(__file__).parent
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")


@dataclass(frozen=True)
class ServedDomains:
    """The served domains: their model and its schema."""

    model: Model

    @cached_property
    def schema(self) -> "Schema":
        """Built on first use: most commands do not need it, and building it takes longer than they do."""
        # the sandbox and most commands start in two thirds of the time without GraphQL
        from gateway.graph.schema.schema import build_schema  # noqa: PLC0415

        return build_schema(self.model)


def load_domains(names: Sequence[str]) -> ServedDomains:
    """Raises one `ConfigurationError` with every fault of every domain."""
    if not names:
        raise ConfigurationError([NONE_NAMED])
    faults = [f"`{name}` is named twice" for name, count in Counter(names).items() if count > 1]
    results = {name: _domain(name) for name in names}
    wrong = {name: result for name, result in results.items() if isinstance(result, tuple)}
    faults += [f"`{name}` {fault}" for name, domain_faults in wrong.items() for fault in domain_faults]
    try:
        served = _served(tuple(result for result in results.values() if isinstance(result, Domain)))
    except ModelError as error:
        packages = {_package(name) for name in names if name not in wrong}
        faults += [with_line(fault, packages) for fault in error.faults]
        if wrong:
            faults.append("the others were checked without what is not loaded, so a name of it is unknown to them")
    if faults:
        raise ConfigurationError([f"domains: {fault}" for fault in faults])
    return served


@lru_cache(maxsize=8)
def _served(domains: tuple[Domain, ...]) -> ServedDomains:
    """Built and checked once: a process loads its domains several times while it starts."""
    model = Model(domains=domains)
    if too_long := size_faults(roles_of(model)):
        raise ModelError(*too_long)
    return ServedDomains(model)


def _domain(name: str) -> Domain | tuple[str, ...]:
    """The domain of this name, or a description of what is wrong with it."""
    if not _NAME.fullmatch(name):
        return ("is not a name such as `helpdesk` or `helpdesk.domain`",)
    installed = _installed(name)
    if len(installed) > 1:
        return (f"is an entry point of several packages: {', '.join(sorted(entry.value for entry in installed))}",)
    try:
        return _loaded(name, installed[0] if installed else None)
    except ModelError as error:
        return tuple(f"is declared wrongly: {fault}" for fault in error.faults)
    except ModuleNotFoundError as error:
        if not f"{name}.domain.".startswith(f"{error.name}."):  # something that the domain imports
            return (f"cannot be imported: {_where(error)}{_text(error)}{_hint(error)}",)
        installed_names = ", ".join(f"`{name}`" for name in sorted(entry_points(group=GROUP).names))
        return (
            f"cannot be imported: {error}{f'; installed domains are {installed_names}' if installed_names else ''}",
        )
    except Exception as error:
        return (f"cannot be imported: {_where(error)}{_text(error)}{_hint(error)}",)


def _package(name: str) -> str:
    """The top package of the domain's module."""
    return next((entry.module for entry in _installed(name)), name).partition(".")[0]


def _installed(name: str) -> list[EntryPoint]:
    return list(entry_points(group=GROUP, name=name)) if "." not in name else []


def _loaded(name: str, entry: EntryPoint | None) -> Domain | tuple[str, ...]:
    module: Any = importlib.import_module(name) if entry is None else entry.load()
    if isinstance(module, Domain):
        return module
    if hasattr(module, "__path__") and not hasattr(module, "DOMAIN") and find_spec(f"{module.__name__}.domain"):
        module = importlib.import_module(f"{module.__name__}.domain")
    domain = getattr(module, "DOMAIN", None) if isinstance(module, ModuleType) else None
    if isinstance(domain, Domain):
        return domain
    if domain is None and getattr(module, "__file__", None) is None:
        return ("is a folder without `__init__.py`; run the command in the folder that holds the package",)
    if domain is None:
        return ("has no `DOMAIN`; write `DOMAIN = Domain(...)` in it",)
    kind = f"the class {domain.__name__}" if isinstance(domain, type) else f"a `{type(domain).__name__}`"
    return (f"has a `DOMAIN` that is {kind}; write `DOMAIN = Domain(...)`",)


def _text(error: Exception) -> str:
    return error.msg if isinstance(error, SyntaxError) else str(error)


def _hint(error: Exception) -> str:
    module = (error.name or "").replace(".", "/") if isinstance(error, ImportError) else ""
    return f"; write it with `gateway records --path {module}.py`" if module.endswith("/records") else ""


def _where(error: Exception) -> str:
    """The line of the user's own code that raised, such as `clinic/note.py:12: TypeError: `."""
    kind = type(error).__name__
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}: {kind}: "
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "importlib" not in frame.filename]
    own = [frame for frame in frames if not Path(frame.filename).is_relative_to(_PACKAGE)]
    if not own:
        return f"{kind}: "
    # the package of the domain, not the libraries that it calls
    inside = [frame for frame in own if Path(frame.filename).is_relative_to(Path(own[0].filename).parent)]
    return f"{inside[-1].filename}:{inside[-1].lineno}: {kind}: "
