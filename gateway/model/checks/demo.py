"""Checks of a domain's demo: at least two valid tenants, and examples with distinct titles."""

from collections import Counter
from collections.abc import Iterator

from gateway.errors import BadUserInput
from gateway.model.checks.shapes import shape_faults
from gateway.model.demo import Demo
from gateway.model.tenant import tenant_id

_FEWEST_TENANTS = 2


def demo_faults(demo: object) -> Iterator[str]:
    if demo is None:
        return
    if not isinstance(demo, Demo):
        yield f"`demo` is a `{type(demo).__name__}`; write `Demo(...)`"
        return
    faults = [*shape_faults(demo)] or [*_tenant_faults(demo), *_example_faults(demo)]
    yield from (f"demo: {fault}" for fault in faults)


def _tenant_faults(demo: Demo) -> Iterator[str]:
    if len(demo.tenants) < _FEWEST_TENANTS:
        yield f"it has {len(demo.tenants)} tenants; declare two or more, to show that they are isolated"
    names = Counter(tenant.name for tenant in demo.tenants)
    yield from (f"tenant `{name}` is declared twice" for name, count in names.items() if count > 1)
    for name in names:
        try:
            tenant_id(name)
        except BadUserInput as error:
            yield f"`{name}` is not a tenant id: {error.message}"


def _example_faults(demo: Demo) -> Iterator[str]:
    titles = Counter(example.title for example in demo.examples)
    yield from (f"example `{title}` is declared twice" for title, count in titles.items() if count > 1)
    names = {tenant.name for tenant in demo.tenants}
    for example in demo.examples:
        strange = sorted(set(example.tenants) - names)
        yield from (f"example `{example.title}` has variables for `{name}`, which is not a tenant" for name in strange)
