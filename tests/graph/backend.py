"""The whole gateway over a real wire: DynamoDB, STS and the token issuer answer over HTTP from another thread.

What is counted in the thread of the gateway is then the gateway alone: the engine's work happens elsewhere.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from time import gmtime, strftime, time
from typing import Any
from urllib.parse import parse_qs

import boto3
import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.app import GatewayApp, create_app
from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.endpoint import AwsTarget
from gateway.demo import MODEL
from gateway.graph.http.log_lines import WriteOperation, log_operation
from gateway.model.tenant import tenant_id
from gateway.sandbox.dev.issuer import AUDIENCE, JWKS_PATH, PATH, TokenIssuer, routes
from gateway.sandbox.server import address_of, listen, served_in_thread
from gateway.setting_types import IssuerSettings
from gateway.settings import Settings
from gateway.store.write.change import created
from gateway.testing.memory import Memory

TABLE, REGION = "app", "eu-west-1"
ROLE_ARN = "arn:aws:iam::123456789012:role/gateway-tenant"
_NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
_ORDERS = 25


def shop(tenant: str) -> Iterator[dict[str, Any]]:
    """Twenty-five orders in review, each of another user and with three lines; their products and a category."""
    for entity, values in (*_catalogue(), *_orders()):
        yield from (dict(row) for row in created(MODEL, entity, tenant_id(tenant), values))


def _catalogue() -> Iterator[tuple[str, dict[str, Any]]]:
    yield "Category", {"categoryId": "c-01", "title": "Tools"}
    for number in range(60):
        yield (
            "Product",
            {
                "productId": f"p-{number:04}",
                "title": f"Product {number}",
                "description": f"What product {number} is good for",
                "price": Decimal(f"{100 + number}.25"),
                "currency": "EUR",
                "categoryId": "c-01",
                "supplierId": f"s-{number % 5}",
                "tags": {"a", "b"},
            },
        )


def _orders() -> Iterator[tuple[str, dict[str, Any]]]:
    for number in range(_ORDERS):
        user, products = f"u-{number:04}", [f"p-{(number * 3 + line) % 60:04}" for line in range(3)]
        key = {"orderId": f"o-{number:04}", "placedAt": _NOW - timedelta(hours=number)}
        yield (
            "User",
            {
                "userId": user,
                "name": f"Customer {number}",
                "email": f"c{number:04}@example.org",
                "phone": None,
                "address": {"street": "Mill Lane 4", "city": "Bremen", "postalCode": "28195", "country": "DE"},
                "createdAt": _NOW - timedelta(days=100 + number),
            },
        )
        order = {"userId": user, "status": "REVIEW", "total": Decimal("1999.50"), "currency": "EUR", "note": None}
        yield "Order", {**key, **order, "productIds": products}
        for line, product in enumerate(products):
            priced = {"title": f"Product {product}", "quantity": line + 1, "unitPrice": Decimal("12.50")}
            yield "OrderLine", {**key, "productId": product, **priced}


@dataclass
class Backend:
    """`url` is where all three answer."""

    url: str
    issuer: TokenIssuer
    memory: Memory
    seen: list[tuple[str, bytes, bytes]] = field(default_factory=list)  # the calls as they came, and their answers

    def settings(self, **changes: Any) -> Settings:
        issuer = IssuerSettings(
            issuer=self.issuer.issuer, audience=[AUDIENCE], jwks_url=self.url + JWKS_PATH, algorithms=["RS256"]
        )
        values: dict[str, Any] = {
            "environment": "sandbox",
            "table_name": TABLE,
            "region": REGION,
            "tenant_role_arn": ROLE_ARN,
            "dynamodb_endpoint": self.url,
            "sts_endpoint": self.url,
            "issuers": [issuer],
            "cursor_secret": "c" * 40,
            "drain_timeout_seconds": 1,
        }
        return Settings(**{**values, **changes})

    def app(self, write: WriteOperation = log_operation, **changes: Any) -> GatewayApp:
        aws = boto3.Session("AKID", "secret", region_name=REGION)
        return create_app(self.settings(**changes), aws=aws, write=write)

    async def aws(self, request: Request) -> Response:
        content, target = await request.body(), request.headers.get("x-amz-target")
        if target is None:
            form = {name: values[0] for name, values in parse_qs(content.decode()).items()}
            return Response(assumed(form), media_type="text/xml")
        operation = target.partition(".")[2]
        answer = await self.memory.call(
            operation, orjson.loads(content), credentials=Credentials("", ""), target=AwsTarget(self.url, REGION)
        )
        said = orjson.dumps(answer)
        self.seen.append((operation, content, said))
        return Response(said, media_type="application/x-amz-json-1.0")


def assumed(form: dict[str, str]) -> str:
    """What STS answers to AssumeRole."""
    account, role = form["RoleArn"].split(":")[4], form["RoleArn"].rpartition("/")[2]
    name, end = form["RoleSessionName"], gmtime(time() + int(form["DurationSeconds"]))
    source = f"<SourceIdentity>{form['SourceIdentity']}</SourceIdentity>" if "SourceIdentity" in form else ""
    return (
        '<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>'
        f"<AssumedRoleUser><AssumedRoleId>AROAEXAMPLE:{name}</AssumedRoleId>"
        f"<Arn>arn:aws:sts::{account}:assumed-role/{role}/{name}</Arn></AssumedRoleUser>"
        "<Credentials><AccessKeyId>ASIAEXAMPLE</AccessKeyId><SecretAccessKey>secret</SecretAccessKey>"
        f"<SessionToken>{'t' * 600}</SessionToken><Expiration>{strftime('%Y-%m-%dT%H:%M:%SZ', end)}</Expiration>"
        f"</Credentials>{source}<PackedPolicySize>40</PackedPolicySize></AssumeRoleResult>"
        "<ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></AssumeRoleResponse>"
    )


@contextmanager
def running(tenants: Iterable[str] = ("acme",)) -> Iterator[Backend]:
    """A backend with the shop of `acme` and tokens for all of the tenants."""
    listening = listen(0)
    url = address_of(listening)
    memory = Memory(MODEL.table, TABLE)
    memory.put(shop("acme"))
    backend = Backend(url, TokenIssuer(url + PATH, frozenset(tenants)), memory)
    app = Starlette(routes=[*routes(backend.issuer), Route("/", backend.aws, methods=["POST"])])
    with served_in_thread(app, listening):
        yield backend
