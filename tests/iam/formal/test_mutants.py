"""Weakened policies before the solver alone; `make mutate-policies-formal` does it for all, this for a spread."""

import pytest

from tests.policies.fixtures import SHIPPED
from tests.policies.mutations import Mutant, mutants
from tests.policies.solver_kills import fate

pytestmark = pytest.mark.slow

EVERY = 25


def named(name: str, title: str) -> Mutant:
    [found] = [mutant for mutant in mutants(dict(SHIPPED[name])) if mutant.title == title]
    return found


@pytest.mark.parametrize("name", SHIPPED)
def test_a_spread_of_mutants_does_not_survive(name: str) -> None:
    found = list(mutants(dict(SHIPPED[name])))[::EVERY]
    fates = {mutant.title: fate(name, mutant)[0] for mutant in found}
    assert [title for title, kind in fates.items() if kind == "survived"] == []
    assert "refuted" in fates.values()


@pytest.mark.parametrize(
    ("name", "title", "theorem"),
    [
        ("tenant-role.json", "OwnItems: drop Null dynamodb:LeadingKeys", "grants hold without denials"),
        ("tenant-role.json", "OwnItems: add dynamodb:Scan", "grants hold without denials"),
        ("tenant-role.json", "NeverForeignRows: drop the statement", "denies by condition"),
        ("tenant-role.json", "NeverCopies: drop dynamodb:*Bulk*", "denies explicitly"),
        ("tenant-role.json", "OwnItems: drop dynamodb:PutItem", "grants no less than declared"),
        ("boundary.json", "NothingElse: drop the statement", "denies explicitly"),
        (
            "boundary.json",
            "OwnItems: ForAllValues:StringLike to ForAnyValue:StringLike",
            "grants no more than declared",
        ),
        ("session-support.json", "NeverHidden: drop `email`", "grants no more than declared"),
        ("session-support.json", "NeverWholeItems: drop the statement", "grants no more than declared"),
        ("tenant-trust.json", "OneTenantOneRole: drop ForAllValues:StringEquals", "grants no more than declared"),
        ("gateway-role.json", "NoDataOfItsOwn: drop dax:*", "denies explicitly"),
    ],
)
def test_each_guard_is_missed_by_its_theorem(name: str, title: str, theorem: str) -> None:
    kind, missed = fate(name, named(name, title))
    assert kind == "refuted"
    assert missed is not None
    assert missed.name == theorem


def test_a_change_without_effect_is_proved_to_have_none() -> None:
    kind, _ = fate("boundary.json", named("boundary.json", "OwnItems: drop Null aws:PrincipalTag/TenantId"))
    assert kind == "no weaker", "without a tag the variable has no value, and the pattern matches nothing"
