"""Tenants: where they live, who is refused."""

from dataclasses import replace

import pytest

from gateway.aws.sts.tenants import Tenancy, Tenants, UnknownTenant
from gateway.aws.wire.endpoint import AwsTarget
from gateway.errors import ConfigurationError, Forbidden, TenantSuspended
from gateway.model.tenant import tenant_id
from tests.aws.tenant_fixtures import ACME, GLOBEX, POOLED, ROLE_ARN

INITECH = tenant_id("initech")
SILO = Tenancy(
    "globex",
    "arn:aws:iam::999999999999:role/silo/globex",
    AwsTarget.regional("dynamodb", "us-east-1"),
    "us-east-1",
    "external-1",
)


def test_a_tenant_without_settings_of_its_own_is_pooled() -> None:
    assert Tenants(POOLED, {GLOBEX: SILO}).lookup(ACME) == POOLED


def test_a_silo_has_its_own_table_role_and_region() -> None:
    assert Tenants(POOLED, {GLOBEX: SILO}).lookup(GLOBEX) == SILO


def test_a_suspended_tenant_is_refused_until_it_is_resumed() -> None:
    tenants = Tenants(POOLED, suspended=[ACME])
    with pytest.raises(TenantSuspended):
        tenants.lookup(ACME)
    assert tenants.lookup(GLOBEX) == POOLED
    tenants.resume(ACME)
    assert tenants.lookup(ACME) == POOLED
    tenants.suspend(ACME)
    with pytest.raises(TenantSuspended):
        tenants.lookup(ACME)


def test_without_a_list_every_tenant_is_served() -> None:
    assert Tenants(POOLED).lookup(INITECH) == POOLED


def test_an_empty_list_serves_nobody() -> None:
    with pytest.raises(UnknownTenant):
        Tenants(POOLED, known=[]).lookup(ACME)


def test_every_unknown_tenant_is_told_the_same() -> None:
    tenants = Tenants(POOLED, {GLOBEX: SILO}, known=[ACME], suspended=[INITECH])
    errors = set()
    for tenant in (GLOBEX, INITECH, tenant_id("nobody")):
        with pytest.raises(Forbidden) as refused:
            tenants.lookup(tenant)
        errors.add((type(refused.value), refused.value.code, refused.value.message))
        assert tenant not in refused.value.message
    assert len(errors) == 1
    assert tenants.lookup(ACME) == POOLED


@pytest.mark.parametrize(
    "arn",
    [
        "",
        "gateway-tenant",
        "arn:aws:iam::123456789012:user/gateway",
        "arn:aws:iam::12345:role/gateway",
        "arn:aws:iam::123456789012:role/",
        "arn:aws:iam::123456789012:role/a*",
        ROLE_ARN + "\n",
    ],
)
def test_what_is_not_the_arn_of_a_role_is_refused(arn: str) -> None:
    with pytest.raises(ConfigurationError, match="not the arn of a role"):
        replace(POOLED, role_arn=arn)


def test_an_external_id_that_sts_would_refuse_is_refused_at_once() -> None:
    with pytest.raises(ConfigurationError, match="external id"):
        replace(POOLED, external_id="a b")
