"""Messages about a domain name the line of the declaration."""

from pathlib import Path

import pytest

from gateway.declaration_lines import with_line
from gateway.domains import load_domains
from gateway.errors import ConfigurationError


def test_a_fault_has_the_line_of_what_it_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """from gateway import Attribute, Choice, Domain, Entity, Id, Key, Listing, Text

THING = Entity(
    name="Thing",
    description="",
    attributes=(
        Attribute("thingId", Id(), ""),
        Attribute("label", Text, ""),
    ),
    key=Key(pk="THING#{thingId}", sk="META"),
    unique=("lable",),
)
DOMAIN = Domain(
    name="things",
    description="",
    entities=(THING,),
    patterns=(
        Listing(name="labels", entity="Thing", index="GSI9", description=""),
        Listing(name="others", entity="Other", description=""),
        Choice(name="either", patterns=("others", "nothing"), description=""),
    ),
)
"""
    (tmp_path / "adopter_lines.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError) as caught:
        load_domains(["adopter_lines"])
    assert [fault.partition(": ")[2] for fault in caught.value.faults] == [
        "entity Thing: `label`: its type is the class Text; write `Text()` (adopter_lines.py:8)",
        "entity Thing: `unique` names the unknown attribute `lable`: did you mean `label`? (adopter_lines.py:11)",
        "pattern labels: there is no index or place `GSI9`, Thing has ['primary'] (adopter_lines.py:18)",
        "pattern others: there is no entity Other: name one of Thing (adopter_lines.py:19)",
        "choice either: `nothing` is not a listing of many items (adopter_lines.py:20)",
    ]


@pytest.mark.parametrize("fault", ["table: is wrong", "entity Nowhere: is wrong", "mutation createThing: is wrong"])
def test_what_no_line_declares_has_none(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend("examples")
    load_domains(["helpdesk.domain"])
    assert with_line("entity Ticket: is wrong", {"helpdesk"}) != "entity Ticket: is wrong"
    assert with_line(fault, {"helpdesk"}) == fault
