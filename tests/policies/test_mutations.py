"""No weakened policy goes unnoticed: a spread of what `make mutate-policies` tries, which CI runs."""

from typing import Any

import pytest

from tests.policies import mutate
from tests.policies.fixtures import SHIPPED
from tests.policies.mutate import all_mutants, killer
from tests.policies.mutations import Mutant, mutants

pytestmark = pytest.mark.slow

EVERY = 5


@pytest.mark.no_cover
@pytest.mark.parametrize("name", SHIPPED)
def test_a_spread_of_mutants_of_a_document_is_killed(name: str) -> None:
    made = list(mutants(dict(SHIPPED[name])))
    assert len(made) >= 20
    assert [mutant.title for mutant in made[::EVERY] if killer(name, mutant) is None] == []


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("tenant-role.json", "OwnItems: drop Null dynamodb:LeadingKeys"),
        ("tenant-role.json", "drop Version"),
        (
            "tenant-role.json",
            "OwnItems: `TENANT#${aws:PrincipalTag/TenantId}#*` to `TENANT#${aws:PrincipalTag/TenantId}*`",
        ),
        ("tenant-role.json", "OwnItems: add dynamodb:Scan"),
        ("tenant-role.json", "OwnItems: widen dynamodb:GetItem to dynamodb:*"),
        ("tenant-role.json", "OwnItems: ForAllValues:StringLike to ForAnyValue:StringLike"),
        ("tenant-role.json", "a further Allow of dynamodb:GetItem on *"),
        ("tenant-role.json", "NeverWholeTable: drop the statement"),
        ("tenant-trust.json", "OneTenantOneRole: drop Null"),
        ("tenant-trust.json", "GatewayAssumes: drop Null aws:RequestTag/TenantId"),
        ("session-support.json", "NeverHidden: drop `email`"),
        ("session-viewer.json", "NothingElse: add dynamodb:Scan"),
    ],
)
def test_the_known_slips_are_among_the_mutants(name: str, title: str) -> None:
    found = [mutant for mutant in mutants(dict(SHIPPED[name])) if mutant.title == title]
    assert len(found) == 1
    assert killer(name, found[0]) is not None


def test_every_statement_and_every_document_is_mutated() -> None:
    for name, document in SHIPPED.items():
        titles = [mutant.title for mutant in mutants(dict(document))]
        for clause in document["Statement"]:
            assert any(title.startswith(f"{clause['Sid']}: ") for title in titles), (name, clause["Sid"])


def test_a_mutant_differs_from_its_document() -> None:
    assert all(mutant.document != SHIPPED[name] for name, mutant in all_mutants())


def test_a_survivor_fails_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    survivor = Mutant("a change that nobody sees", dict(SHIPPED["gateway-role.json"]))
    monkeypatch.setattr(mutate, "all_mutants", lambda: iter([("gateway-role.json", survivor)]))
    assert mutate.main() == 1
    assert "survived: gateway-role.json: a change that nobody sees" in capsys.readouterr().out


def test_the_solver_alone_fails_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    title = "NoDataOfItsOwn: drop dax:*"
    [mutant] = [each for each in mutants(dict(SHIPPED["gateway-role.json"])) if each.title == title]
    monkeypatch.setattr(mutate, "all_mutants", lambda: iter([("gateway-role.json", mutant)]))
    monkeypatch.setattr(mutate, "killer", lambda *given: pytest.fail("something else was asked"))
    assert mutate.main(formal=True) == 0
    assert "1 mutants before the solver alone: 1 refuted" in capsys.readouterr().out
    monkeypatch.setattr(mutate, "fate", lambda *given: ("survived", None))
    assert mutate.main(formal=True) == 1
    assert f"survived: gateway-role.json: {mutant.title} (before the solver)" in capsys.readouterr().out


def test_a_faulty_document_fails_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    faulty: dict[str, Any] = {**SHIPPED["gateway-role.json"], "Version": "2008-10-17"}
    monkeypatch.setattr(mutate, "SHIPPED", {"gateway-role.json": faulty})
    monkeypatch.setattr(mutate, "all_mutants", lambda: iter([]))
    assert mutate.main() == 1
    assert "the shipped document is at fault" in capsys.readouterr().out
