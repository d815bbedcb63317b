"""What a request that writes may use: the shipped model and policies, in the role of an editor."""

from gateway.aws.credentials import Credentials
from gateway.aws.dynamodb import DynamoDB
from gateway.aws.sessions import Session
from gateway.aws.tenants import Tenancy
from gateway.domains import MODEL
from gateway.iam.policies import generated
from gateway.model.tenant import TenantId
from gateway.ops.policy_files import permissions_for
from gateway.store.access import Access
from gateway.store.table import Table
from gateway.store.writer import Writer
from tests.store.memory import Memory
from tests.store.world import ACME, TABLE, tenancy

_PERMISSIONS = permissions_for(generated(MODEL), MODEL)


async def _no_renewal(refused: Session) -> Session:
    raise AssertionError("nothing expires here")


def editing(
    client: DynamoDB, tenant: TenantId = ACME, deadline: float | None = None, place: Tenancy | None = None
) -> Writer:
    place = place or tenancy()
    session = Session(tenant, "editor", Credentials("AKID", "secret"), place, _PERMISSIONS(place, tenant, "editor"))
    return Writer(MODEL, Table(client, MODEL, _no_renewal), Access(session, deadline))


def empty() -> Memory:
    return Memory(MODEL.table, TABLE)
