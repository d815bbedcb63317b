"""A demo that is declared wrongly: every fault at once, each with its domain and what to do."""

from typing import Any

import pytest

from gateway.errors import ModelError
from gateway.model.demo import Demo, DemoTenant, Example
from gateway.model.model import Domain, Model

BAD_ID = (
    "domain desk: demo: `Big#One` is not a tenant id: a tenant id is 2 to 63 characters of a-z, 0-9 and -, and starts "
    "with a letter or digit"
)
TWO = (DemoTenant("acme"), DemoTenant("globex"))


def faults(demo: Any) -> tuple[str, ...]:
    with pytest.raises(ModelError) as refused:
        Model(domains=(Domain(name="desk", description="", entities=(), patterns=(), demo=demo),))
    return tuple(refused.value.faults)


def test_a_right_one_is_accepted() -> None:
    demo = Demo(tenants=TWO, examples=(Example(title="One", query="{ a }"),))
    Model(domains=(Domain(name="desk", description="", entities=(), patterns=(), demo=demo),))


def test_every_fault_is_reported_at_once() -> None:
    demo = Demo(
        tenants=(DemoTenant("acme"), DemoTenant("acme"), DemoTenant("Big#One")),
        examples=(
            Example(title="One", query="{ a }"),
            Example(title="One", query="{ b }", tenants={"nobody": {}}),
        ),
    )
    assert faults(demo) == (
        "domain desk: demo: tenant `acme` is declared twice",
        BAD_ID,
        "domain desk: demo: example `One` is declared twice",
        "domain desk: demo: example `One` has variables for `nobody`, which is not a tenant",
    )


@pytest.mark.parametrize(
    ("demo", "fault"),
    [
        (Demo, "`demo` is the class Demo; write `Demo(...)`"),
        (Demo(tenants=TWO[:1]), "it has 1 tenants; declare two or more"),
        (Demo(tenants=TWO[0]), "`tenants` must be a tuple; put a comma after its only member"),  # type: ignore[arg-type]  # the fault
        (Demo(tenants=("acme", "globex")), "`tenants` holds a `str`; it takes DemoTenant"),  # type: ignore[arg-type]  # the fault
        (Demo(rows=[("Ticket", {})]), "`rows` must be a function"),  # type: ignore[arg-type]  # the fault
    ],
)
def test_mistakes_of_python_are_reported(demo: Any, fault: str) -> None:
    assert fault in faults(demo)[0]
