"""Documents in, permissions out: shared by tenants, apart by their tags."""

import pytest

from gateway.demo import MODEL
from gateway.iam.language.errors import PolicyError
from gateway.iam.policies.deployment import Deployment
from gateway.iam.policies.generate import documents
from gateway.iam.policies.policies import generated, permissions_at, place_of, policies_of
from gateway.model.tenant import tenant_id

ACME, GLOBEX = tenant_id("acme"), tenant_id("globex")
POOL = Deployment.of_role("arn:aws:iam::123456789012:role/gateway-tenant", "eu-west-1", "pool")
SILO = Deployment.of_role("arn:aws:iam::999999999999:role/silo-tenant", "us-east-1", "silo")
PERMISSIONS = permissions_at(generated(MODEL), MODEL)


def key(table: str, tenant: str) -> dict[str, object]:
    return {"TableName": table, "Key": {"PK": {"S": f"TENANT#{tenant}#USER#1"}, "SK": {"S": "PROFILE"}}}


def test_roles_stand_strongest_first() -> None:
    assert tuple(generated(MODEL).sessions) == tuple(MODEL.all_roles)


def test_tenants_share_compiled_policies_and_not_permissions() -> None:
    one, other = PERMISSIONS(POOL, ACME, "viewer"), PERMISSIONS(POOL, GLOBEX, "viewer")
    assert one.policies is other.policies
    assert one.check("GetItem", key("pool", "acme")).allowed
    assert not other.check("GetItem", key("pool", "acme")).allowed


def test_a_tenant_with_a_table_of_its_own_has_the_same_roles_there_and_nowhere_else() -> None:
    silo = PERMISSIONS(SILO, ACME, "viewer")
    assert silo.check("GetItem", key("silo", "acme")).allowed
    assert not silo.check("GetItem", key("silo", "globex")).allowed
    assert not silo.check("GetItem", key("pool", "acme")).allowed
    assert not PERMISSIONS(POOL, ACME, "viewer").check("GetItem", key("silo", "acme")).allowed


def test_roles_have_different_fingerprints_where_they_differ() -> None:
    prints = {role: PERMISSIONS(POOL, ACME, role).fingerprint for role in tuple(MODEL.all_roles)}
    assert len({prints["editor"], prints["support"], prints["viewer"]}) == 3


def test_the_place_knows_the_keys_of_every_index() -> None:
    keys = place_of(MODEL, POOL).tables["pool"]
    assert keys.pk == "PK"
    assert set(keys.indexes) == {index.name for index in MODEL.table.indexes}


def test_a_document_that_is_not_understood_is_refused() -> None:
    broken = {**documents(MODEL), "session-viewer.json": {"Version": "2012-10-17", "Statement": []}}
    with pytest.raises(PolicyError):
        policies_of(MODEL, broken)
