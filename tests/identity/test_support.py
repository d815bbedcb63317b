"""Support access: what a grant must be, and every way to stretch one."""

from typing import Any

import pytest

from gateway.errors import ConfigurationError
from gateway.identity.support import SupportAccess, SupportRules
from tests.identity.fixtures import ISSUER, NOW, TokenVerifier, good_token, issuer

GRANT: dict[str, Any] = {
    "sub": "support",
    "jti": "grant-0001",
    "act": {"sub": "jane@example.org"},
    "reason": "ticket 4711",
    "roles": ["support"],
    "iat": NOW,
    "exp": NOW + 900,
}


def grant(**changes: Any) -> str:
    return good_token(**{**GRANT, **changes})


def granting(**rules: Any) -> TokenVerifier:
    return TokenVerifier(issuers=(issuer(support=SupportRules(**rules)),))


async def refusal(verifier: TokenVerifier | None = None, **changes: Any) -> str:
    return (await (verifier or granting()).refusal(grant(**changes))).message


async def test_a_grant_names_the_person_the_tenant_and_the_reason() -> None:
    principal = await granting().principal(grant())
    assert principal.support == SupportAccess("grant-0001", "jane@example.org", "ticket 4711")
    assert (principal.tenant, principal.subject) == ("acme", "support:jane@example.org")
    assert principal.roles == {"support"}
    assert (principal.issuer, principal.expires_at) == (ISSUER, NOW + 900)


async def test_a_grant_lasts_thirty_minutes_at_most() -> None:
    assert (await granting().principal(grant(exp=NOW + 1_800))).support is not None
    assert await refusal(exp=NOW + 1_801) == "support access lasts too long"
    assert await refusal(granting(max_seconds=600), exp=NOW + 601) == "support access lasts too long"


@pytest.mark.parametrize("changes", [{"exp": NOW + 1_801}, {"roles": ["admin"]}, {"tenant": ...}, {"tenant": "a b"}])
async def test_a_refused_grant_is_named_for_the_log(changes: dict[str, Any]) -> None:
    refused = await granting().refusal(grant(**changes))
    assert refused.support == SupportAccess("grant-0001", "jane@example.org", "ticket 4711")


async def test_what_nobody_has_signed_names_no_grant() -> None:
    head, body, signature = grant().split(".")
    assert (await granting().refusal(f"{head}.{body}.{signature[::-1]}")).support is None


async def test_an_issuer_without_support_cannot_grant_it() -> None:
    assert await refusal(TokenVerifier()) == "the issuer may not grant support access"
    # nor pass one off as a user's token
    assert await refusal(TokenVerifier(), jti=..., reason=...) == "the issuer may not grant support access"


@pytest.mark.parametrize(
    "act", [None, "jane@example.org", [], {}, {"sub": ""}, {"sub": 7}, {"sub": "a b"}, {"sub": "a|b"}]
)
async def test_a_grant_names_one_person_as_aws_can_record_it(act: object) -> None:
    assert "missing or malformed" in await refusal(act=act)


async def test_a_grant_without_its_actor_is_no_users_token() -> None:
    assert await refusal(act=...) == "claim `act` missing or malformed"
    assert await refusal(granting(only=False), act=...) == "claim `act` missing or malformed"


async def test_a_chain_of_actors_is_refused() -> None:
    assert "act" in await refusal(act={"sub": "jane@example.org", "act": {"sub": "service"}})


@pytest.mark.parametrize("jti", [..., None, "", "short", "x" * 65, "grant 0001", 12345678, "grant#0001"])
async def test_a_grant_has_an_id_by_which_it_can_be_revoked(jti: object) -> None:
    assert await refusal(jti=jti) == "claim `jti` missing or malformed"


@pytest.mark.parametrize("reason", [..., None, "", "   ", "x" * 201, "a\nb", 7, ["ticket"]])
async def test_a_grant_has_a_reason(reason: object) -> None:
    assert await refusal(reason=reason) == "claim `reason` missing or malformed"


@pytest.mark.parametrize("tenant", [..., None, "", "*", ["acme"], ["acme", "globex"], {"acme": {}}])
async def test_a_grant_is_for_one_tenant(tenant: object) -> None:
    assert "claim `tenant`" in await refusal(tenant=tenant)


async def test_a_grant_is_for_a_tenant_of_its_issuer() -> None:
    verifier = TokenVerifier(issuers=(issuer(support=SupportRules(), tenants={"globex"}),))
    assert await refusal(verifier) == "the issuer may not speak for this tenant"


@pytest.mark.parametrize("roles", [["admin"], ["support", "admin"], ["viewer"], "editor support"])
async def test_a_grant_has_the_role_of_support_and_no_other(roles: object) -> None:
    assert await refusal(roles=roles) == "support access has no other role"


async def test_a_grant_without_roles_has_the_role_of_support() -> None:
    assert (await granting(role="viewer").principal(grant(roles=...))).roles == {"viewer"}


async def test_a_grant_ends_when_it_says_without_leeway() -> None:
    verifier, token = granting(), grant()
    verified = await verifier.authenticator.verify(f"Bearer {token}")
    verifier.clock.now = NOW + 899.9
    assert await verifier.authenticator.still_holds(verified)
    assert await verifier.accepts(token)
    verifier.clock.now = NOW + 900
    assert not await verifier.authenticator.still_holds(verified)
    assert (await verifier.refusal(token)).message == "token expired"


async def test_an_issuer_of_grants_signs_nothing_else_unless_it_may() -> None:
    assert "`jti`" in (await granting().refusal(good_token())).message
    assert (await granting(only=False).principal(good_token())).support is None


async def test_the_person_may_be_named_by_another_claim_inside_act() -> None:
    act = {"sub": "auth0|1", "email": "jane@example.org"}
    principal = await granting(actor_claim=("act", "email")).principal(grant(act=act))
    assert principal.support is not None
    assert principal.support.actor == "jane@example.org"


@pytest.mark.parametrize(
    "rules",
    [{"max_seconds": 1_801}, {"max_seconds": 0}, {"role": ""}, {"actor_claim": ("sub",)}, {"actor_claim": "act"}],
)
def test_rules_that_allow_more_are_refused(rules: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        issuer(support=SupportRules(**rules))
