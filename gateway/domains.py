"""Loads domains by the names of their modules: the shipped ones, or your own.

A module has a `DOMAIN` and, where it can be changed, `MUTATIONS`; see docs/your-own-domain.md.
"""

import importlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType

from strawberry import Schema

from gateway.demo import MODEL, MUTATIONS
from gateway.errors import ConfigurationError, ModelError
from gateway.graph.mutation.mutation import Mutation
from gateway.graph.schema.schema import build_schema
from gateway.model.checks.declarations import field_faults
from gateway.model.model import Domain, Model

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")


@dataclass(frozen=True)
class Loaded:
    """The served domains: their model, their mutations and the schema of both."""

    model: Model
    mutations: tuple[Mutation, ...]

    @cached_property
    def schema(self) -> Schema:
        """Built on first use: most commands do not need it, and building it takes longer than they do."""
        return build_schema(self.model, self.mutations)


SHIPPED = Loaded(MODEL, MUTATIONS)


def load_domains(names: Sequence[str] = ()) -> Loaded:
    """Without names, the shipped domains; raises one `ConfigurationError` with every fault of every module."""
    if not names:
        return SHIPPED
    faults = [f"domains: `{name}` is named twice" for name, count in Counter(names).items() if count > 1]
    found = {name: _module(name) for name in names}
    faults += [f"domains: `{name}` {fault}" for name, module in found.items() for fault in _faults(module)]
    if faults:
        raise ConfigurationError(faults)
    return _joined([module for module in found.values() if isinstance(module, ModuleType)])


def _module(name: str) -> ModuleType | tuple[str, ...]:
    """The module, or what is wrong with it."""
    if not _NAME.fullmatch(name):
        return ("is not a module name such as `helpdesk.domain`",)
    try:
        return importlib.import_module(name)
    except ImportError as error:
        return (f"cannot be imported: {error}",)
    except ModelError as error:
        return tuple(f"is declared wrongly: {fault}" for fault in error.faults)


def _faults(module: ModuleType | tuple[str, ...]) -> Iterator[str]:
    if isinstance(module, tuple):
        yield from module
        return
    if not isinstance(getattr(module, "DOMAIN", None), Domain):
        yield "has no `DOMAIN`"
    mutations = getattr(module, "MUTATIONS", ())
    if not isinstance(mutations, tuple) or not all(isinstance(each, Mutation) for each in mutations):
        yield "has `MUTATIONS` that are not a tuple of mutations"


def _joined(modules: list[ModuleType]) -> Loaded:
    mutations = tuple(mutation for module in modules for mutation in getattr(module, "MUTATIONS", ()))
    counts = Counter(mutation.name for mutation in mutations)
    faults = [fault for mutation in mutations for fault in mutation_faults(mutation)]
    faults += [f"the mutation `{name}` is declared twice" for name, count in counts.items() if count > 1]
    try:
        model = Model(domains=tuple(module.DOMAIN for module in modules))
    except ModelError as error:
        raise ConfigurationError([f"domains: {fault}" for fault in (*error.faults, *faults)]) from error
    faults += [
        f"the mutation `{mutation.name}` answers with `{mutation.returns}`, which no domain declares"
        for mutation in mutations
        if mutation.returns not in model.entities
    ]
    if faults:
        raise ConfigurationError([f"domains: {fault}" for fault in faults])
    return Loaded(model, mutations)


def mutation_faults(mutation: Mutation) -> Iterator[str]:
    """What is wrong with a mutation by itself."""
    faults = [*mutation.faults, *field_faults(mutation, "input"), *field_faults(mutation, "extras")]
    return (f"mutation {mutation.name}: {fault}" for fault in faults)
