"""Checks of mutations and of the error codes in their payloads: types, names, and the entities they return."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gateway.model.checks.declarations import field_faults
from gateway.model.checks.shapes import shape_faults
from gateway.model.error_code import UserErrorCode
from gateway.model.files.checks import input_faults
from gateway.model.mutation import Bulk, Mutation
from gateway.model.patterns import parameters
from gateway.model.types import Id
from gateway.suggestions import closest

if TYPE_CHECKING:
    from gateway.model.model import Model


def mutation_faults(mutation: Mutation) -> Iterator[str]:
    """The faults of a mutation on its own."""
    shape = [*shape_faults(mutation)] or [*_default_faults(mutation)]
    faults = shape or [*mutation.faults, *field_faults(mutation, "input"), *field_faults(mutation, "extras")]
    faults = faults or [*input_faults(mutation.input)]
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
            meant = closest(mutation.returns, model.entities)
            yield f"mutation {mutation.name}: returns `{mutation.returns}`, which no domain declares{meant}"
        yield from (f"mutation {mutation.name}: {fault}" for fault in _acting_faults(model, mutation))
    counts = Counter(mutation.name for mutation in model.mutations)
    yield from (f"mutation {name}: is declared twice" for name, count in counts.items() if count > 1)


# Bulk mutations: the mutation they repeat, how many items they take, and what fits into one transaction.

MAX_BULK_ITEMS = 500
MAX_WRITES = 100  # in one transaction


def bulk_faults(model: "Model") -> Iterator[str]:
    """For a model whose entities, patterns and mutations have no faults of their own."""
    for mutation in model.mutations:
        if mutation.bulk is not None:
            yield from (f"mutation {mutation.name}: {fault}" for fault in _bulk_faults(model, mutation.bulk))


def _bulk_faults(model: "Model", bulk: Bulk) -> Iterator[str]:
    single = bulk.of
    if single.step is None:
        yield f"`{single.name}` was not created by `create`, `update`, `remove` or `crud`; only those can be bulk"
        return
    if not 1 <= bulk.max_items <= MAX_BULK_ITEMS:
        yield f"`max_items` is {bulk.max_items}; it may be 1 to {MAX_BULK_ITEMS}"
    other = next((mutation for mutation in model.mutations if mutation.name == single.name), single)
    if other.input != single.input:
        yield f"it uses a `{single.name}` whose input differs from the declared one; use the same for both"
    if bulk.atomic:
        yield from _atomic_faults(model, bulk)


def _atomic_faults(model: "Model", bulk: Bulk) -> Iterator[str]:
    cascades = [referrer for referrer in model.referrers.get(bulk.of.returns, ()) if referrer.cascade]
    if bulk.of.removes and cascades:
        source = cascades[0].source.name
        yield f"`atomic`: any number of {source} items are removed with it; leave `atomic` out"
        return
    writes = _writes(model, bulk.of, bulk.max_items)
    if writes > MAX_WRITES:
        fitting = max(n for n in range(bulk.max_items) if n == 0 or _writes(model, bulk.of, n) <= MAX_WRITES)
        yield (
            f"`atomic`: {bulk.max_items} items take up to {writes} writes, but a transaction has {MAX_WRITES}; "
            f"declare `max_items={fitting}` or leave `atomic` out"
        )


def _writes(model: "Model", mutation: Mutation, items: int) -> int:
    """The maximum number of writes for this many items: with copies, unique values, references, counters, and the
    record."""
    entity = model.entities[mutation.returns]
    updates = mutation.step is not None and mutation.step.reads and not mutation.removes
    moves = 2 if updates else 1  # an update moves from one place to another
    checked = len(entity.checked_references)
    writes_per_item = 1 + moves * (len(entity.copies) + len(entity.unique)) + (0 if mutation.removes else checked)
    counters = 0
    for listing in model.counted.get(entity.name, ()):
        # all items of a list without parameters share its rows
        shared = listing.counter is not None and not parameters(model, listing)
        counters += min(items * moves, listing.counter.shards if shared and listing.counter else items * moves)
    return items * writes_per_item + counters + 1


# Error codes.

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
