"""What a request that writes may use: the shipped model and policies, in the role of an editor."""

from gateway.aws.sts.session import Session
from gateway.aws.sts.tenants import Tenancy
from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.dynamodb import DynamoDB
from gateway.demo import MODEL
from gateway.iam.policies.policies import generated
from gateway.model.tenant import TenantId
from gateway.ops.policies.files import permissions_for
from gateway.store.access import Access
from gateway.store.table import Table
from gateway.store.write.writer import Writer
from gateway.testing.memory import Memory
from tests.store.fixtures import ACME, TABLE, tenancy

_PERMISSIONS = permissions_for(generated(MODEL), MODEL)


async def _no_renewal(refused: Session) -> Session:
    raise AssertionError("nothing expires here")


def editing(
    client: DynamoDB,
    tenant: TenantId = ACME,
    deadline: float | None = None,
    place: Tenancy | None = None,
    role: str = "admin",
) -> Writer:
    place = place or tenancy()
    session = Session(tenant, role, Credentials("AKID", "secret"), place, _PERMISSIONS(place, tenant, role, None))
    return Writer(MODEL, Table(client, MODEL, _no_renewal), Access(session, deadline))


def empty() -> Memory:
    return Memory(MODEL.table, TABLE)
