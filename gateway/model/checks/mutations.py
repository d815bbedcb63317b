"""Checks of mutations and of the error codes in their payloads: types, names, and the entities they answer with."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gateway.model.checks.declarations import field_faults
from gateway.model.checks.shapes import shape_faults
from gateway.model.error_code import UserErrorCode
from gateway.model.mutation import Mutation
from gateway.model.types import Id

if TYPE_CHECKING:
    from gateway.model.model import Model


def mutation_faults(mutation: Mutation) -> Iterator[str]:
    """What is wrong with a mutation by itself."""
    shape = [*shape_faults(mutation)] or [*_default_faults(mutation)]
    faults = shape or [*mutation.faults, *field_faults(mutation, "input"), *field_faults(mutation, "extras")]
    return (f"mutation {mutation.name}: {fault}" for fault in faults)


def _acting_faults(model: "Model", mutation: Mutation) -> Iterator[str]:
    role = None if mutation.acts_as is None else model.all_roles.get(mutation.acts_as)
    if mutation.acts_as is not None and (role is None or not role.acting):
        yield f"`acts_as` names `{mutation.acts_as}`, which is not a role with `acting=True`"
    elif role is not None and not role.writes_result(mutation):
        yield f"it acts as `{role.name}`, which does not write {mutation.returns}"


def _default_faults(mutation: Mutation) -> Iterator[str]:
    for field in mutation.input:
        if field.default is not None and (field.required or not isinstance(field.type, Id)):
            yield f"`{field.name}`: the default Subject() needs an Id with `required=False`"


def all_mutation_faults(model: "Model") -> Iterator[str]:
    for mutation in model.mutations:
        yield from mutation_faults(mutation)
        if not any(shape_faults(mutation)) and mutation.returns not in model.entities:
            yield f"mutation {mutation.name}: answers with `{mutation.returns}`, which no domain declares"
        yield from (f"mutation {mutation.name}: {fault}" for fault in _acting_faults(model, mutation))
    counts = Counter(mutation.name for mutation in model.mutations)
    yield from (f"mutation {name}: is declared twice" for name, count in counts.items() if count > 1)


_CODE = re.compile(r"[A-Z][A-Z0-9_]{0,99}")


def error_code_faults(model: "Model") -> Iterator[str]:
    described = {code.value: code.name for code in UserErrorCode}
    names = set(described.values())
    for code in model.error_codes:
        if shape := [*shape_faults(code)]:
            yield from (f"error code {code.name}: {fault}" for fault in shape)
            continue
        if not _CODE.fullmatch(code.name):
            yield f"error code {code.name}: a name has capital letters, digits and `_`, such as OUT_OF_STOCK"
        if code.name in UserErrorCode.__members__:
            yield f"error code {code.name}: is one of the gateway's own; use UserErrorCode.{code.name}"
        elif code.name in names:
            yield f"error code {code.name}: is declared twice"
        elif not code.description:
            yield f"error code {code.name}: has no description"
        elif code.description in described:
            yield f"error code {code.name}: has the description of {described[code.description]}"
        names.add(code.name)
        described.setdefault(code.description, code.name)
