"""What is wrong with a field that code answers is said when the domain is loaded, all of it at once."""

from typing import Any

import pytest

from gateway.errors import ModelError
from gateway.model.code import Computed, CustomQuery, Loaded
from gateway.model.model import Domain, Model
from gateway.model.patterns import Lookup
from gateway.model.types import Field, Id, Integer, Struct, Text
from tests.model.build import faults, passes, thing


def computed(**changes: Any) -> Computed:
    declared: dict[str, Any] = {"needs": ("label",), "run": lambda values: 1}
    named: dict[str, Any] = {"name": "size", "type": Integer(), "description": "Its size."}
    return Computed(**(named | declared | changes))


async def load(reader: Any, rows: Any) -> Any:
    return []


async def run(reader: Any, arguments: Any) -> Any:
    return None


def loaded(**changes: Any) -> Loaded:
    declared: dict[str, Any] = {"needs": ("label",), "load": load}
    named: dict[str, Any] = {"name": "rating", "type": Integer(), "description": "Its rating."}
    return Loaded(**(named | declared | changes))


def query(**changes: Any) -> CustomQuery:
    declared: dict[str, Any] = {"name": "best", "description": "", "returns": "Thing", "run": run, "cost": 1}
    return CustomQuery(**(declared | changes))


def query_faults(*queries: Any) -> tuple[str, ...]:
    pattern = Lookup(name="thing", many="things", entity="Thing", description="")
    domain = Domain(name="test", description="", entities=(thing(),), patterns=(pattern,), queries=queries)
    with pytest.raises(ModelError) as caught:
        Model(domains=(domain,))
    return caught.value.faults


class NotAFunction:
    """Is called, but makes an object."""


async def waits(values: Any) -> Any:
    return None


WORD = Field("word", Text(), "A word.")
PYTHON: Any = str
CLASS: Any = Id
UNFIT: list[tuple[dict[str, Any], str]] = [
    ({"needs": ()}, "`size`: `needs` is empty; name the attributes that its function reads"),
    ({"needs": ("lable",)}, "`size`: `needs` names the unknown attribute `lable`: did you mean `label`?"),
    ({"needs": ("label", "label")}, "`size`: `needs` names `label` twice"),
    (
        {"needs": "label"},
        "`computed[size].needs` must be a tuple; write `('label',)`, with a comma after the only member",
    ),
    ({"type": None}, "`size`: its type is None; use a type such as Text() or Id()"),
    ({"type": Integer}, "`size`: its type is the class Integer; write `Integer()`"),
    ({"name": "label"}, "`label` is declared twice"),
    ({"name": "version"}, "`version` is a field of every entity"),
    ({"name": "its size"}, "`its size` is not a name such as placedAt"),
    ({"run": None}, "`computed[size].run` must be a function, not nothing"),
    ({"run": NotAFunction}, "`size`: `run` is the class NotAFunction; write a function, `def run(values)`"),
    (
        {"run": waits},
        "`size`: `run` does not fit: it is async, but only a Loaded field may be; write `def run(values)`",
    ),
    ({"run": lambda: 1}, "`size`: `run` must take values; write `def run(values)`"),
    (
        {"arguments": (WORD,)},
        "`size`: `run` must take values, arguments; write `def run(values, arguments)`",
    ),
    ({"arguments": WORD}, "`computed[size].arguments` must be a tuple; put a comma after its only member"),
    (
        {"arguments": (Field("a word", Text(), ""),), "run": lambda values, arguments: 1},
        "`size`: argument `a word` is not a name such as placedAt",
    ),
    (
        {"arguments": (Field("word", PYTHON, ""),), "run": lambda values, arguments: 1},
        "`size`: argument `word`: its type is Python's `str`; use Text(), Id() or KeyString()",
    ),
]


@pytest.mark.parametrize(("changes", "said"), UNFIT, ids=[said for _, said in UNFIT])
def test_a_computed_field_that_does_not_fit_is_refused(changes: dict[str, Any], said: str) -> None:
    assert faults(thing(computed=(computed(**changes),))) == (f"entity Thing: {said}",)


def test_a_class_in_place_of_a_field_is_refused() -> None:
    assert faults(thing(computed=(Computed,))) == (
        "entity Thing: `computed` holds the class Computed; it takes Computed; write `Computed(...)`",
    )
    assert faults(thing(loaded=(computed(),))) == ("entity Thing: `loaded` holds a `Computed`; it takes Loaded",)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"load": lambda reader, rows: []},
            "`load` does not fit: it is not async; write `async def load(reader, rows)`",
        ),
        ({"load": waits}, "`load` must take reader, rows; write `async def load(reader, rows)`"),
        ({"cost": -1}, "`cost` must be a number of capacity units, 0 or more, not -1"),
    ],
)
def test_a_loaded_field_that_does_not_fit_is_refused(changes: dict[str, Any], said: str) -> None:
    assert faults(thing(loaded=(loaded(**changes),))) == (f"entity Thing: `rating`: {said}",)


def test_a_cost_that_is_no_number_is_refused() -> None:
    assert faults(thing(loaded=(loaded(cost="1"),))) == (
        "entity Thing: `loaded[rating].cost` must be a number, not a `str`",
    )


def test_what_fits_passes() -> None:
    class Called:
        async def __call__(self, reader: Any, rows: Any) -> Any:
            return []

    assert passes(thing(computed=(computed(),), loaded=(loaded(), loaded(name="score", load=Called()))))


def test_a_struct_of_a_derived_field_may_not_take_the_name_of_another_type() -> None:
    other = Struct("Thing", (Field("size", Integer(), ""),))
    clash = "entity Thing: the type `Thing` is declared elsewhere as something else"
    assert faults(thing(computed=(computed(type=other),))) == (clash,)
    assert query_faults(query(returns=other)) == (
        "query best: the type `Thing` is declared elsewhere as something else",
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "things"}, "query things: an access pattern has the same name"),
        ({"name": "node"}, "query node: `node` is a field of every query type; choose another name"),
        ({"name": "Best"}, "query Best: `Best` is not a name such as ordersToShip"),
        ({"returns": "Thong"}, "query best: it returns `Thong`, which is neither an entity nor a type"),
        ({"returns": Text}, "query best: `returns`: its type is the class Text; write `Text()`"),
        (
            {"run": load, "arguments": WORD},
            "query best: `arguments` must be a tuple; put a comma after its only member",
        ),
        ({"run": waits}, "query best: `run` must take reader, arguments; write `async def run(reader, arguments)`"),
        ({"cost": float("nan")}, "query best: `cost` must be a number of capacity units, 0 or more, not nan"),
        ({"max_items": 0}, "query best: `max_items` must be 1 or more"),
        ({"arguments": (WORD, WORD)}, "query best: argument `word` is declared twice"),
    ],
)
def test_a_query_that_does_not_fit_is_refused(changes: dict[str, Any], said: str) -> None:
    assert query_faults(query(**changes)) == (said,)


def test_two_queries_of_one_name_and_a_class_are_refused() -> None:
    assert query_faults(query(), query()) == ("query best: is declared twice",)
    assert query_faults(CustomQuery) == (
        "domain test: `queries` holds the class CustomQuery; it takes CustomQuery; write `CustomQuery(...)`",
    )


def test_all_faults_are_said_at_once() -> None:
    wrong = computed(needs=("lable", "lebal"), run=lambda: 1, type=str)
    said = faults(thing(computed=(wrong,), loaded=(loaded(load=waits, needs=()),)))
    assert len(said) == 6
    assert all(fault.startswith("entity Thing: `") for fault in said)


def test_an_entity_as_argument_type_is_refused() -> None:
    assert query_faults(query(arguments=(Field("by", CLASS, ""),))) == (
        "query best: argument `by`: its type is the class Id; write `Id()`",
    )
