"""The descriptions of generated mutations, and the faults that are reported for wrong declarations."""

import pytest

from gateway.graph.mutation.crud import crud, now, update
from gateway.model.checks.mutations import mutation_faults
from gateway.model.entity import Key
from tests.model.build import thing


@pytest.mark.parametrize("words", ["an Author", "an Email", "an Order", "an Update", "a User", "a Unit", "a Product"])
def test_the_article_fits_the_name(words: str) -> None:
    name = words.split()[1]
    described = [mutation.description for mutation in crud(thing(name=name))]
    assert described == [
        f"Create {words}.",
        f"Update {words}: a field that is left out keeps its value, null removes it.",
        f"Remove {words}; the payload has its last values.",
    ]


def test_an_unknown_attribute_in_filled_is_a_fault() -> None:
    create, *others = crud(thing(), filled={"madeAt": now, "madeat": now})
    assert [*mutation_faults(create)] == [
        "mutation createThing: `filled` names `madeat`, which Thing does not declare: did you mean `madeAt`?"
    ]
    assert [fault for each in others for fault in mutation_faults(each)] == []


def test_a_value_in_place_of_a_function_in_filled_is_a_fault() -> None:
    create, *_ = crud(thing(), filled={"madeAt": "today"})  # type: ignore[dict-item]  # the slip
    said = "mutation createThing: `filled` has 'today' for `madeAt`; give it a function, such as `lambda: 'today'`"
    assert [*mutation_faults(create)] == [said]


def test_something_else_than_a_dict_in_filled_is_a_fault() -> None:
    create, *_ = crud(thing(), filled=("madeAt",))  # type: ignore[arg-type]  # the slip
    [said] = mutation_faults(create)
    assert said.startswith("mutation createThing: `filled` must be a dict of names and functions")


def test_an_unknown_attribute_in_but_is_a_fault() -> None:
    said = "mutation updateThing: `but` names `mail`, which Thing does not declare: did you mean `email`?"
    assert [*mutation_faults(update(thing(), but=("mail", "email")))] == [said]


def test_a_faulty_entity_is_left_to_its_model() -> None:
    """Otherwise the import would fail with the first fault, and the others would not be reported."""
    faulty = crud(thing(key=Key(pk="thing", sk="META")), filled={"madeAt": now})
    assert [fault for each in faulty for fault in mutation_faults(each)] == []
