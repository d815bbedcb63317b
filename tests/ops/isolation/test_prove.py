"""The whole proof: sessions opened as a request opens them, a report on disk."""

import json
from pathlib import Path

import pytest

from gateway.aws.sts.assume_role import AssumeRole
from gateway.aws.sts.roles import Roles
from gateway.aws.sts.sessions import Sessions
from gateway.aws.sts.tenants import Tenants
from gateway.aws.wire.credentials import Credentials
from gateway.demo import MODEL
from gateway.errors import ConfigurationError
from gateway.iam.policies.policies import generated
from gateway.ops.isolation.attack import Ground
from gateway.ops.isolation.prove import proof, write_report
from tests.ops.endpoint import ACME, GLOBEX, GROUND, PERMISSIONS, TENANCY, AuthorizingClient
from tests.ops.isolation.test_attack import scan_leaks


class FixedCredentials:
    """An STS whose tokens tell the tags."""

    async def assume_role(self, request: AssumeRole) -> Credentials:
        tags = dict(request.tags)
        return Credentials("AKID", "secret", f"{tags['TenantId']} {tags['GatewayRole']} {tags.get('Subject', '')}")


def sessions() -> Sessions:
    own = [name for name, role in MODEL.all_roles.items() if role.own]
    acting = [name for name, role in MODEL.all_roles.items() if role.acting]
    return Sessions(FixedCredentials(), Tenants(TENANCY), Roles(generated(MODEL).sessions, own, acting), PERMISSIONS)


async def test_every_tenant_is_tried_in_every_role(tmp_path: Path) -> None:
    opened = sessions()
    made = await proof(AuthorizingClient(), opened, GROUND)
    await opened.close()
    assert made.passed
    assert {(result.tenant, result.role) for result in made.results} == {
        (tenant, role) for tenant in (ACME, GLOBEX) for role in tuple(MODEL.all_roles)
    }
    markdown, machine = write_report(made, tmp_path / "below")
    assert "**Passed.**" in markdown.read_text()
    assert json.loads(machine.read_text())["passed"] is True


@pytest.mark.slow
async def test_real_tenants_are_known_by_their_partition_keys() -> None:
    opened = sessions()
    ground = Ground(MODEL, {ACME: None, GLOBEX: None})
    assert (await proof(AuthorizingClient(), opened, ground)).passed
    assert not (await proof(AuthorizingClient(scan_leaks), opened, ground)).passed
    await opened.close()


async def test_one_tenant_alone_proves_nothing() -> None:
    opened = sessions()
    with pytest.raises(ConfigurationError, match="two tenants"):
        await proof(AuthorizingClient(), opened, Ground(MODEL, {ACME: "x"}))
    await opened.close()
