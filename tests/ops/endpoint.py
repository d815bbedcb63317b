"""An endpoint that authorises as AWS would, holds a row of every tenant, and can be given a hole."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gateway.aws.sts.session import Session
from gateway.aws.sts.tenants import Tenancy
from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.dynamodb import DynamoDB
from gateway.aws.wire.endpoint import AwsTarget
from gateway.aws.wire.errors import AccessDenied, AwsFailure, ConditionFailed, InvalidRequest
from gateway.demo import MODEL
from gateway.iam.policies.pattern_requests import SAMPLE_SUBJECT
from gateway.iam.policies.policies import generated
from gateway.model.keys import ItemKey
from gateway.model.tenant import TenantId, tenant_id
from gateway.ops.isolation.attack import Ground
from gateway.ops.policies.files import permissions_for

ACME, GLOBEX = tenant_id("acme"), tenant_id("globex")
TENANCY = Tenancy(
    "shop", "arn:aws:iam::123456789012:role/gateway-tenant", AwsTarget("http://127.0.0.1:1", "eu-west-1"), "eu-west-1"
)
MARKERS = {ACME: "canary-of-acme", GLOBEX: "canary-of-globex"}
GROUND = Ground(MODEL, MARKERS, {GLOBEX: (ItemKey("TENANT#globex#USER#u-1", "PROFILE"),)})
PERMISSIONS = permissions_for(generated(MODEL), MODEL)

Answer = dict[str, Any]


def session(tenant: TenantId = ACME, role: str = "viewer") -> Session:
    subject = SAMPLE_SUBJECT if MODEL.all_roles[role].own else None
    credentials = Credentials(f"AKID{tenant}{role}", "secret", f"{tenant} {role} {subject or ''}")
    return Session(tenant, role, credentials, TENANCY, PERMISSIONS(TENANCY, tenant, role, subject))


def row(tenant: TenantId) -> Answer:
    key = {"PK": {"S": f"TENANT#{tenant}#USER#u-1"}, "SK": {"S": "PROFILE"}}
    return {**key, "note": {"S": MARKERS[tenant]}}


def denied() -> AccessDenied:
    return AccessDenied("denied", said=AwsFailure("AccessDeniedException", "is not authorized to perform"))


@dataclass
class AuthorizingClient(DynamoDB):
    """`hole` may answer or raise instead; None means that it has no say."""

    hole: Callable[[TenantId, str, Mapping[str, Any]], Answer | None] = lambda tenant, operation, body: None
    sent: list[tuple[str, str]] = field(default_factory=list)

    async def call(
        self,
        operation: str,
        body: Mapping[str, Any],
        *,
        credentials: Credentials,
        target: AwsTarget,
        deadline: float | None = None,
    ) -> Answer:
        tenant, role, *subject = (credentials.session_token or "").split()
        self.sent.append((credentials.access_key, operation))
        answer = self.hole(tenant_id(tenant), operation, body)
        if answer is not None:
            return answer
        if not PERMISSIONS(TENANCY, tenant_id(tenant), role, *subject).check(operation, body).allowed:
            raise denied()
        if "ExclusiveStartKey" in body:
            raise InvalidRequest(
                "not understood",
                said=AwsFailure("ValidationException", f"start key {body['ExclusiveStartKey']} is outside"),
            )
        if "ConditionExpression" in body:
            raise ConditionFailed("condition", said=AwsFailure("ConditionalCheckFailedException"))
        return {"Items": [row(tenant_id(tenant))]}
