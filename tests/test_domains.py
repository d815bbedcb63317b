"""Domains by the names of their modules, and what is said about wrong ones."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.app import build_gateway
from gateway.demo import MODEL
from gateway.domains import load_domains
from gateway.errors import ConfigurationError
from gateway.settings import DEMO_DOMAINS
from gateway.testing.services import settings
from tests.fixtures import aws

ENTITY = """
from dataclasses import replace

from gateway import Attribute, CustomQuery, Domain, Entity, Field, Id, Key, Lookup, Model, crud

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
    return [re.sub(r" \(\S+\.py:\d+\)$", "", fault) for fault in caught.value.faults]


def test_without_names_nothing_is_served_and_the_message_says_what_to_set() -> None:
    assert faults() == [
        """domains: none is named; set GATEWAY_DOMAINS, such as '["helpdesk.domain"]', or give --domains to a command"""
    ]


def test_only_the_sandbox_serves_the_demo_domains_by_itself() -> None:
    assert settings(domains=[]).served_domains == DEMO_DOMAINS
    assert settings(domains=["helpdesk"]).served_domains == ["helpdesk"]
    assert settings(domains=[], environment="production").served_domains == ()
    assert load_domains(DEMO_DOMAINS).model.domains == MODEL.domains


def test_a_gateway_in_production_without_domains_is_not_built() -> None:
    with pytest.raises(ConfigurationError, match="GATEWAY_DOMAINS"):
        build_gateway(settings(domains=[], environment="production"), aws=aws())


def installed(folder: Path, package: str, *entries: str) -> None:
    """The metadata of an installed package that declares these entry points."""
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("\n".join(["[gateway.domains]", *entries, ""]))


@pytest.mark.parametrize("value", ["{}", "{}:DOMAIN"])
def test_an_entry_point_is_found_by_its_name(write: Write, tmp_path: Path, value: str) -> None:
    installed(tmp_path, "adopter", f"things = {value.format(write('entry', ENTITY))}")
    assert list(load_domains(["things"]).model.entities) == ["Thing"]


def test_an_entry_point_goes_before_a_module_of_the_same_name(write: Write, tmp_path: Path) -> None:
    module = write("plain", "raise RuntimeError('not this one')\n")
    installed(tmp_path, "adopter", f"{module} = {write('better', ENTITY)}")
    assert list(load_domains([module]).model.entities) == ["Thing"]


def test_a_package_may_have_its_domain_in_a_module_named_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "adopter_package").mkdir()
    (tmp_path / "adopter_package" / "__init__.py").touch()
    (tmp_path / "adopter_package" / "domain.py").write_text(ENTITY)
    assert list(load_domains(["adopter_package"]).model.entities) == ["Thing"]


def test_wrong_names_are_reported_with_the_names_that_are_installed(write: Write, tmp_path: Path) -> None:
    module = write("once", ENTITY)
    installed(tmp_path, "one", f"things = {module}", f"both = {module}")
    installed(tmp_path, "two", f"both = {module}:DOMAIN")
    [unknown] = faults("clinic_that_is_not_there")
    assert unknown.startswith("domains: `clinic_that_is_not_there` cannot be imported: No module named")
    assert "installed domains are" in unknown
    assert "`things`" in unknown
    assert faults("both") == [f"domains: `both` is an entry point of several packages: {module}, {module}:DOMAIN"]
    assert faults(write("none", "")) == ["domains: `adopter_none` has no `DOMAIN`; write `DOMAIN = Domain(...)` in it"]
    (tmp_path / "adopter_project" / "adopter_project").mkdir(parents=True)
    [folder] = faults("adopter_project")
    assert folder.startswith("domains: `adopter_project` is a folder without `__init__.py`; run the command in the")


def test_a_module_that_fails_is_reported_with_its_line(write: Write, tmp_path: Path) -> None:
    name = write("fails", "from gateway import Entity\n\nENTITY = Entity(nam='Thing')\n")
    [fault] = faults(name)
    assert fault.startswith(f"domains: `{name}` cannot be imported: {tmp_path / name}.py:3: TypeError: ")
    assert "unexpected keyword argument 'nam'" in fault


def test_a_fault_in_another_module_of_the_package_is_reported_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    package = tmp_path / "adopter_parts"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "domain.py").write_text("from adopter_parts import one, two\n")
    (package / "one.py").write_text("")
    (package / "two.py").write_text("import enum\n\nfrom gateway import Entitty\n")
    [fault] = faults("adopter_parts.domain")
    assert f"cannot be imported: {package / 'two.py'}:3: ImportError: cannot import name 'Entitty'" in fault
    (package / "two.py").write_text("import adopter_parts.three\n")
    [fault] = faults("adopter_parts.domain")
    assert f"{package / 'two.py'}:1: ModuleNotFoundError: No module named 'adopter_parts.three'" in fault
    assert "installed domains" not in fault
    (package / "two.py").write_text("from adopter_parts.records import Thing\n")
    [fault] = faults("adopter_parts.domain")
    assert fault.endswith("; write it with `gateway records --path adopter_parts/records.py`")


@pytest.mark.parametrize(
    ("source", "line", "said"),
    [
        ("\nimport nothing_of_this_name\n", 2, "ModuleNotFoundError: No module named 'nothing_of_this_name'"),
        ("from gateway import Enttiy\n", 1, "ImportError: cannot import name 'Enttiy' from 'gateway'"),
        ("\n\nX = (1\n", 3, "SyntaxError: '(' was never closed"),
        ("\nX = NOTHING\n", 2, "NameError: name 'NOTHING' is not defined"),
    ],
)
def test_the_line_is_where_the_fault_is_and_not_where_its_module_is_imported(
    write: Write, tmp_path: Path, source: str, line: int, said: str
) -> None:
    inner = write(f"inner_{line}_{len(source)}", source)
    [fault] = faults(write(f"outer_{line}_{len(source)}", f"import {inner}\n"))
    assert f"cannot be imported: {tmp_path / inner}.py:{line}: {said}" in fault


def test_a_class_in_place_of_the_domain_is_reported(write: Write) -> None:
    name = write("kind", "from gateway import Domain\n\nDOMAIN = Domain\n")
    assert faults(name) == [f"domains: `{name}` has a `DOMAIN` that is the class Domain; write `DOMAIN = Domain(...)`"]


def test_two_domains_with_one_entity_are_named(write: Write) -> None:
    named = "DOMAIN = replace(DOMAIN, name='{}')\n"
    found = faults(write("first", ENTITY + named.format("ward")), write("second", ENTITY + named.format("desk")))
    assert "domains: entity Thing: is declared twice, in the domains ward and desk; rename one of them" in found


@pytest.mark.parametrize("name", ["commerce", "devices", "publishing"])
def test_a_shipped_domain_stands_alone(name: str) -> None:
    loaded = load_domains([f"gateway.demo.{name}"])
    assert [domain.name for domain in loaded.model.domains] == [name]
    assert loaded.model.mutations


def test_an_own_domain_is_loaded_alone_or_beside_a_shipped_one(write: Write) -> None:
    name = write("right", ENTITY + "DOMAIN = replace(DOMAIN, mutations=crud(THING))\n")
    alone = load_domains([name])
    assert list(alone.model.entities) == ["Thing"]
    assert [mutation.name for mutation in alone.model.mutations] == ["createThing", "updateThing", "removeThing"]
    beside = load_domains(["gateway.demo.devices", name])
    assert {"Thing", "Device"} <= set(beside.model.entities)


def test_a_domain_that_nobody_changes_needs_no_mutations(write: Write) -> None:
    assert load_domains([write("silent", ENTITY)]).model.mutations == ()


@pytest.mark.parametrize("name", ["", "help desk", "../secrets", "a..b", ".relative", "os; import sys", "1st"])
def test_a_name_that_names_no_module_is_refused(name: str) -> None:
    assert faults(name) == [f"domains: `{name}` is not a name such as `helpdesk` or `helpdesk.domain`"]


def test_every_fault_is_reported_at_once(write: Write) -> None:
    empty = write("empty", "DOMAIN = 1\n")
    assert faults("no.such.module", empty, "not a name") == [
        "domains: `no.such.module` cannot be imported: No module named 'no'",
        f"domains: `{empty}` has a `DOMAIN` that is a `int`; write `DOMAIN = Domain(...)`",
        "domains: `not a name` is not a name such as `helpdesk` or `helpdesk.domain`",
    ]


def test_a_domain_that_cannot_be_imported_hides_no_fault_of_the_others(write: Write) -> None:
    broken, wrong = write("broken", "1 / 0\n"), write("wrong", ENTITY.replace('sk="META"', 'sk="meta"'))
    first, second, note = faults(broken, wrong)
    assert f"`{broken}` cannot be imported" in first
    assert second.startswith("domains: entity Thing: key `meta` has the part `meta`")
    assert "checked without what is not loaded" in note
    assert len(faults(broken, "gateway.demo.devices")) == 1


def test_a_module_is_named_once() -> None:
    assert faults("gateway.demo.devices", "gateway.demo.devices") == ["domains: `gateway.demo.devices` is named twice"]


def test_an_invalid_model_is_reported_like_an_invalid_setting(write: Write) -> None:
    wrong = write("wrong", ENTITY.replace('sk="META"', 'sk="meta"'))
    [fault] = faults(wrong)
    assert fault.startswith("domains: entity Thing: key `meta` has the part `meta`")
    early = write("early", ENTITY + "Model(domains=(DOMAIN, DOMAIN))\n")
    assert faults(early) == [
        f"domains: `{early}` is declared wrongly: {kind} is declared twice"
        for kind in ("domain things:", "entity Thing:", "pattern thing:")
    ]
    other = write("other", ENTITY)
    assert faults(write("one", ENTITY), other)[0].startswith("domains: domain things: is declared twice")


def test_mutations_are_named_once_and_answer_with_what_is_declared(write: Write) -> None:
    twice = write("twice", ENTITY + "DOMAIN = replace(DOMAIN, mutations=(*crud(THING), crud(THING)[0]))\n")
    assert faults(twice) == ["domains: mutation createThing: is declared twice"]
    stray = ENTITY + "DOMAIN = replace(DOMAIN, mutations=(replace(crud(THING)[0], returns='X'),))\n"
    assert faults(write("stray", stray)) == [
        "domains: mutation createThing: returns `X`, which no domain declares: name one of Thing"
    ]


def test_faults_of_the_model_and_of_its_mutations_are_reported_at_once(write: Write) -> None:
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
DOMAIN = replace(
    DOMAIN,
    entities=(THING, OTHER, PLAIN, FINE),
    mutations=(*crud(THING), *crud(OTHER), *crud(PLAIN), *crud(FINE, filled={"fineID": str})),
)
"""
    assert faults(write("many", text)) == [
        "domains: entity Thing: `thingId`: its type is the class Id; write `Id()`",
        "domains: entity Other: `unique` must be a tuple; write `('mail',)`, with a comma after the only member",
        "domains: entity Plain: `unique` names the unknown attribute `mail`: name one of plainId",
        "domains: mutation createFine: `filled` names `fineID`, which Fine does not declare: did you mean `fineId`?",
    ]


def test_a_missing_comma_of_the_domain_hides_no_fault_of_an_entity_or_a_mutation(write: Write) -> None:
    text = """
OTHER = Entity(
    name="Other", description="", attributes=(Attribute("otherId", Id, ""),), key=Key(pk="OTHER#{otherId}", sk="META"),
)
DOMAIN = replace(
    DOMAIN,
    entities=(THING, OTHER),
    queries=(CustomQuery(name="x", description="", returns=Id(), run=len, cost=1)),
    mutations=(replace(crud(THING)[2], faults=("is wrong",)),),
)
"""
    assert faults(write("classes", ENTITY + text)) == [
        "domains: domain things: `queries` must be a tuple; put a comma after its only member",
        "domains: entity Other: `otherId`: its type is the class Id; write `Id()`",
        "domains: mutation removeThing: is wrong",
    ]


def test_a_mutation_of_ones_own_has_fields_with_types(write: Write) -> None:
    text = """
DOMAIN = replace(
    DOMAIN,
    mutations=(
        replace(crud(THING)[0], name="one", input=(Field("label", str, "A word."),)),
        replace(crud(THING)[0], name="two", input=(Field("label", Id(), "A word."))),
    ),
)
"""
    assert faults(write("own", ENTITY + text)) == [
        "domains: mutation one: `label`: its type is Python's `str`; use Text(), Id() or KeyString()",
        "domains: mutation two: `input` must be a tuple; put a comma after its only member",
    ]


CLINIC = """
from gateway import Attribute, Domain, Entity, Field, Id, Key, Lookup, Struct, Text

FINDINGS = tuple(f"examinationFinding{number:02}" for number in range(60))
EACH = tuple(Attribute(name, Text(200), "A finding.", required=False, personal=True) for name in FINDINGS)
TOGETHER = Struct("Findings", tuple(Field(name, Text(200), "A finding.") for name in FINDINGS), "All findings.")
PATIENT = Entity(
    name="Patient", description="A patient.", key=Key(pk="PATIENT#{patientId}", sk="META"),
    attributes=(Attribute("patientId", Id(), "Its id."), *%s),
)
DOMAIN = Domain(
    name="clinic", description="A clinic.", entities=(PATIENT,),
    patterns=(Lookup(name="patient", entity="Patient", description="One."),),
)
"""
ONE = '(Attribute("findings", TOGETHER, "All findings.", required=False, personal=True),)'


def test_a_role_whose_policy_is_too_long_for_aws_is_refused_when_the_domains_are_loaded(write: Write) -> None:
    [fault] = faults(write("clinic", CLINIC % "EACH"))
    assert fault.startswith("domains: role support: its session policy has ")
    assert "AWS takes 2,048: the names of its 60 hidden attributes take 1,380 of them" in fault
    assert "put attributes that belong together into one Struct" in fault
    # what the message says helps
    assert "Patient" in load_domains([write("clinic_together", CLINIC % ONE)]).model.entities
