"""Domains by the names of their modules, and what is said about wrong ones."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.demo import MODEL, MUTATIONS
from gateway.domains import load_domains
from gateway.errors import ConfigurationError

ENTITY = """
from gateway.graph.mutation.crud import crud
from gateway.model.entity import Attribute, Entity, Key
from gateway.model.model import Domain
from gateway.model.patterns import Lookup
from gateway.model.types import Id

THING = Entity(
    name="Thing", description="A thing.", attributes=(Attribute("thingId", Id(), "Its id."),),
    key=Key(pk="THING#{thingId}", sk="META"),
)
DOMAIN = Domain(
    name="things", description="Things.", entities=(THING,),
    patterns=(Lookup(name="thing", entity="Thing", description="One."),),
)
"""

Write = Callable[[str, str], str]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """A module of an adopter, by a name that no other test has."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def written(name: str, text: str) -> str:
        module = f"adopter_{name}"
        (tmp_path / f"{module}.py").write_text(text)
        monkeypatch.delitem(sys.modules, module, raising=False)
        return module

    return written


def faults(*names: str) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        load_domains(names)
    return caught.value.faults


def test_without_names_the_shipped_domains_are_served() -> None:
    loaded = load_domains(())
    assert loaded.model is MODEL
    assert loaded.mutations is MUTATIONS
    assert [domain.name for domain in MODEL.domains] == ["commerce", "devices", "publishing"]


@pytest.mark.parametrize("name", ["commerce", "devices", "publishing"])
def test_a_shipped_domain_stands_alone(name: str) -> None:
    loaded = load_domains([f"gateway.demo.{name}"])
    assert [domain.name for domain in loaded.model.domains] == [name]
    assert loaded.mutations


def test_an_own_domain_is_loaded_alone_or_beside_a_shipped_one(write: Write) -> None:
    name = write("right", ENTITY + "MUTATIONS = crud(THING)\n")
    alone = load_domains([name])
    assert list(alone.model.entities) == ["Thing"]
    assert [mutation.name for mutation in alone.mutations] == ["createThing", "updateThing", "removeThing"]
    beside = load_domains(["gateway.demo.devices", name])
    assert {"Thing", "Device"} <= set(beside.model.entities)


def test_a_domain_that_nobody_changes_needs_no_mutations(write: Write) -> None:
    assert load_domains([write("silent", ENTITY)]).mutations == ()


@pytest.mark.parametrize("name", ["", "help desk", "../secrets", "a..b", ".relative", "os; import sys", "1st"])
def test_a_name_that_names_no_module_is_refused(name: str) -> None:
    assert faults(name) == [f"domains: `{name}` is not a module name such as `helpdesk.domain`"]


def test_every_fault_is_told_at_once(write: Write) -> None:
    empty = write("empty", "MUTATIONS = [1]\n")
    assert faults("no.such.module", empty, "not a name") == [
        "domains: `no.such.module` cannot be imported: No module named 'no'",
        f"domains: `{empty}` has no `DOMAIN`",
        f"domains: `{empty}` has `MUTATIONS` that are not a tuple of mutations",
        "domains: `not a name` is not a module name such as `helpdesk.domain`",
    ]


def test_a_module_is_named_once() -> None:
    assert faults("gateway.demo.devices", "gateway.demo.devices") == ["domains: `gateway.demo.devices` is named twice"]


def test_a_model_that_is_wrong_is_told_as_a_setting_that_is(write: Write) -> None:
    wrong = write("wrong", ENTITY.replace('sk="META"', 'sk="meta"'))
    [fault] = faults(wrong)
    assert fault.startswith("domains: entity Thing: key `meta` has the part `meta`")
    early = write("early", ENTITY + "from gateway.model.model import Model\nModel(domains=(DOMAIN, DOMAIN))\n")
    assert faults(early) == [
        f"domains: `{early}` is declared wrongly: {kind} is declared twice"
        for kind in ("domain things:", "entity Thing:", "pattern thing:")
    ]
    other = write("other", ENTITY)
    assert faults(write("one", ENTITY), other)[0].startswith("domains: domain things: is declared twice")


def test_mutations_are_named_once_and_answer_with_what_is_declared(write: Write) -> None:
    twice = write("twice", ENTITY + "MUTATIONS = (*crud(THING), crud(THING)[0])\n")
    assert faults(twice) == ["domains: the mutation `createThing` is declared twice"]
    stray = write("stray", ENTITY + "import dataclasses\nOTHER = dataclasses.replace(crud(THING)[0], returns='X')\n")
    with (Path(sys.path[0]) / f"{stray}.py").open("a") as file:
        file.write("MUTATIONS = (OTHER,)\n")
    assert faults(stray) == ["domains: the mutation `createThing` answers with `X`, which no domain declares"]


def test_faults_of_the_model_and_of_its_mutations_are_told_at_once(write: Write) -> None:
    text = ENTITY.replace('Id(), "Its id."', 'Id, "Its id."').replace(
        'sk="META"', 'sk="META", low_cardinality_reason=""'
    )
    text += """
OTHER = Entity(
    name="Other", description="", attributes=(Attribute("otherId", Id(), ""),), unique=("mail"),
    key=Key(pk="OTHER#{otherId}", sk="META"),
)
PLAIN = Entity(
    name="Plain", description="", attributes=(Attribute("plainId", Id(), ""),), unique=("mail",),
    key=Key(pk="PLAIN#{plainId}", sk="META"),
)
FINE = Entity(
    name="Fine", description="", attributes=(Attribute("fineId", Id(), ""),), key=Key(pk="FINE#{fineId}", sk="META"),
)
DOMAIN = Domain(name="things", description="", entities=(THING, OTHER, PLAIN, FINE), patterns=DOMAIN.patterns)
MUTATIONS = (*crud(THING), *crud(OTHER), *crud(PLAIN), *crud(FINE, filled={"fineID": str}))
"""
    assert faults(write("many", text)) == [
        "domains: entity Thing: `thingId`: its type is the class Id; write `Id()`",
        "domains: entity Other: `unique` must be a tuple; write `('mail',)`, with a comma after the only member",
        "domains: entity Plain: `unique` names the unknown attribute `mail`",
        "domains: mutation createFine: `filled` names `fineID`, which Fine does not declare",
    ]


def test_a_mutation_of_ones_own_has_fields_with_types(write: Write) -> None:
    text = """
from dataclasses import replace
from gateway.model.types import Field
MUTATIONS = (
    replace(crud(THING)[0], name="one", input=(Field("label", str, "A word."),)),
    replace(crud(THING)[0], name="two", input=(Field("label", Id(), "A word."))),
)
"""
    assert faults(write("own", ENTITY + text)) == [
        "domains: mutation one: `label`: its type is Python's `str`; use Text(), Id() or KeyString()",
        "domains: mutation two: `input` must be a tuple; put a comma after its only member",
    ]
