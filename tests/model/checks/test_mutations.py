"""What is said about mutations that are declared wrongly, together with the faults of the model."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.errors import ModelError
from gateway.model.checks.mutations import mutation_faults
from gateway.model.mutation import Mutation
from gateway.model.role import Role
from gateway.model.types import Field, Id, Struct, Subject, Text
from tests.model.build import model, thing


async def run(writer: Any, values: dict[str, Any]) -> Any:
    return values


RIGHT = Mutation(name="change", description="", returns="Thing", input=(Field("thingId", Id(), ""),), run=run)


def faults(*mutations: Mutation, roles: tuple[Role, ...] = ()) -> tuple[str, ...]:
    with pytest.raises(ModelError) as caught:
        model(thing(), mutations=mutations, roles=roles)
    return caught.value.faults


def test_a_right_mutation_has_no_faults() -> None:
    assert [*mutation_faults(RIGHT)] == []
    assert model(thing(), mutations=(RIGHT,)).mutations == (RIGHT,)


def test_a_mutation_acts_in_an_acting_role_that_writes_its_result() -> None:
    acting = Role(name="acting", description="", reads=("Thing",), acting=True)
    assert faults(replace(RIGHT, acts_as="nobody")) == (
        "mutation change: `acts_as` names `nobody`, which is not a role with `acting=True`",
    )
    assert faults(replace(RIGHT, acts_as="viewer")) == (
        "mutation change: `acts_as` names `viewer`, which is not a role with `acting=True`",
    )
    assert faults(replace(RIGHT, acts_as="acting"), roles=(acting,)) == (
        "mutation change: it acts as `acting`, which does not write Thing",
    )


def test_the_subject_is_the_default_of_an_optional_id() -> None:
    for field in (Field("thingId", Id(), "", default=Subject()), Field("a", Text(), "", False, default=Subject())):
        assert faults(replace(RIGHT, input=(field,))) == (
            f"mutation change: `{field.name}`: the default Subject() needs an Id with `required=False`",
        )


def test_all_faults_of_all_mutations_are_reported_at_once() -> None:
    text: Any = str
    wrong = replace(RIGHT, name="wrong", returns="Nothing", input=(Field("a", text, ""),), faults=("is odd",))
    nested = replace(RIGHT, name="nested", extras=(Field("b", Struct("Inner", (Field("c", text, ""),)), ""),))
    assert faults(wrong, nested, RIGHT, RIGHT) == (
        "mutation wrong: is odd",
        "mutation wrong: `a`: its type is Python's `str`; use Text(), Id() or KeyString()",
        "mutation wrong: returns `Nothing`, which no domain declares: did you mean `Thing`?",
        "mutation nested: `b`: Inner: `c`: its type is Python's `str`; use Text(), Id() or KeyString()",
        "mutation change: is declared twice",
    )
