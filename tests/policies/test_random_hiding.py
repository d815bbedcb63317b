"""Random roles that hide attributes and find by them: what their policies allow is what plain words say.

In plain words: a role that hides something names the attributes that it reads, and never a hidden one. A partition
that is named by a hidden value is closed to it. If `finds` names a pattern, its partition answers with the id and the
keys, and with nothing else.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.errors import ModelError
from gateway.iam.language.document import parse
from gateway.iam.language.evaluator import evaluate
from gateway.iam.language.verdict import Authorisation
from gateway.iam.policies.generate import session_document
from gateway.iam.policies.roles import gateway_role
from gateway.model.model import Model
from gateway.model.role import ALL, PERSONAL, Role
from tests.drawn import drawn
from tests.policies.cases import Case, context_of
from tests.policies.declared_meaning import READS
from tests.policies.fixtures import TABLE, alone
from tests.policies.test_random_roles import declared

INDEX = f"{TABLE}/index/GSI1"
PERSONAL_NAMES = frozenset({"email", "name", "address", "phone", "actor", "text", "contact", "note"})
KEYED = {"email": "EMAIL#ann@example.com", "phone": "PHONE#+4911"}
FOUND = {"userByEmail": "EMAIL#ann@example.com", "userByPhone": "PHONE#+4911"}
FOUND_NAMES = frozenset({"userId", "PK", "SK", "GSI1PK", "GSI1SK", "EntityType", "ttl"})
NAMES = sorted(PERSONAL_NAMES | FOUND_NAMES | {"verified", "addedAt", "version", "GSI2PK", "total"})

hidden = st.one_of(
    st.just(PERSONAL), st.sets(st.sampled_from(sorted(PERSONAL_NAMES))).map(lambda names: tuple(sorted(names)))
)
roles = st.builds(
    lambda hides, finds: Role(name="random", description="", reads=ALL, hides=hides, finds=tuple(sorted(finds))),
    hidden,
    st.sets(st.sampled_from(sorted(FOUND))),
)


def hides(role: Role) -> frozenset[str]:
    return frozenset(role.hides) if isinstance(role.hides, tuple) else PERSONAL_NAMES


def may(role: Role, path: str, names: frozenset[str], select: str) -> bool:
    """Whether the role may read these attributes in this partition: the plain words of this file's first lines."""
    if hides(role) & names or (hides(role) and select not in ("SPECIFIC_ATTRIBUTES", "COUNT")):
        return False
    found = [FOUND[name] for name in role.finds]
    closed = [KEYED[name] for name in sorted(hides(role) & KEYED.keys())]
    return names <= FOUND_NAMES if path in found else path not in closed


def cases(role: Role) -> Iterator[Case]:
    for action in READS:
        for path in ("USER#u-1", "ORDER#o-1", *KEYED.values()):
            key = f"TENANT#acme#{path}"
            for name in NAMES:
                names = ("PK", name)
                expected = may(role, path, frozenset(names), "SPECIFIC_ATTRIBUTES")
                yield Case(expected, f"dynamodb:{action}", INDEX, context_of(action, (key,), Attributes=names))
                both = (key, "TENANT#acme#USER#u-2")
                yield Case(expected, f"dynamodb:{action}", INDEX, context_of(action, both, Attributes=names))
                foreign = (key.replace("acme", "globex"),)
                yield Case(False, f"dynamodb:{action}", INDEX, context_of(action, foreign, Attributes=names))
            for select in ("COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"):
                expected = may(role, path, frozenset(("PK",)), select)
                context = context_of(action, (key,), Attributes=("PK",), Select=select)
                yield Case(expected, f"dynamodb:{action}", INDEX, context)


def disagreements(model: Model, role: Role) -> list[Any]:
    policies = alone(parse(session_document(gateway_role(model, role)), "session"))
    return [
        case
        for case in cases(role)
        if evaluate(policies, Authorisation(case.action, case.resource, case.context)).allowed is not case.allowed
    ]


@settings(deadline=None, max_examples=drawn(15, 4), suppress_health_check=list(HealthCheck))
@given(roles)
def test_a_random_role_hides_and_finds_what_it_declares_or_is_refused(role: Role) -> None:
    try:
        model = declared(role)
    except ModelError:
        return
    assert disagreements(model, role) == []


@pytest.mark.parametrize(
    ("hides", "finds"),
    [
        (PERSONAL, ("userByEmail",)),
        (PERSONAL, ("userByEmail", "userByPhone")),
        (("email", "note"), ("userByEmail",)),
        (("phone",), ()),
        ((), ()),
    ],
)
def test_a_role_hides_and_finds_what_it_declares(hides: Any, finds: tuple[str, ...]) -> None:
    role = Role(name="random", description="", hides=hides, finds=finds)
    assert disagreements(declared(role), role) == []


def test_a_find_by_what_is_not_hidden_is_refused() -> None:
    role = Role(name="random", description="", hides=("phone",), finds=("userByEmail",))
    with pytest.raises(ModelError, match="finds by nothing that the role hides: name it in `reads`"):
        declared(role)
