"""Trusted documents have their lanes before anybody asks for them."""

import asyncio
from pathlib import Path

import boto3
import orjson
import pytest

from gateway.app import build_gateway
from gateway.demo import MODEL
from gateway.wiring.trusted_lanes import prepare_trusted
from tests.graph.backend import REGION, running
from tests.graph.path_trace import post_asgi

pytestmark = pytest.mark.usefixtures("threads")

LOOKUP = "query One($id: ID!) { product(productId: $id) { title price } }"
OPTIONAL = "query Some($id: ID!, $more: Boolean!) { product(productId: $id) { title price @include(if: $more) } }"
CHANGE = 'mutation Change { removeCategory(input: { categoryId: "c-01" }) { errors { message } } }'


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "documents.json"
    path.write_bytes(orjson.dumps({"one": LOOKUP, "some": OPTIONAL, "change": CHANGE}))
    return path


async def test_the_first_use_of_a_trusted_query_is_in_its_lane(manifest: Path) -> None:
    with running() as backend:
        settings = backend.settings(trusted_documents=manifest)
        gateway = build_gateway(settings, boto3.Session("AKID", "secret", region_name=REGION))
        lanes = gateway.endpoint.lanes
        assert [session.role for session in gateway.trusted] == list(MODEL.roles)
        # nothing can be sent with them
        assert {session.credentials.secret_key for session in gateway.trusted} == {""}
        await prepare_trusted(gateway.endpoint, list(gateway.trusted))
        made = dict(lanes._made)
        # one operation for each role; what a variable decides, and mutations, have none
        assert len(made) == len(MODEL.roles)
        body = {"documentId": "one", "variables": {"id": "p-0003"}}
        for role in ("viewer", "editor"):
            answer = await post_asgi(gateway.endpoint, orjson.dumps(body), backend.issuer.token("acme", role))
            assert answer == {"data": {"product": {"title": "Product 3", "price": "103.25"}}}
        assert lanes.outcomes.counts == {"lane": 2}
        assert lanes._made.keys() == made.keys()
        await gateway.close()


async def test_they_are_made_when_the_app_starts(manifest: Path) -> None:
    with running() as backend:
        app = backend.app(lambda fields: None, trusted_documents=manifest)
        lanes = app._graphql.lanes  # type: ignore[attr-defined]
        async with app.lifespan():
            async with asyncio.timeout(60):
                while len(lanes._made) < len(MODEL.roles):  # noqa: ASYNC110  a lane tells nobody that it was made
                    await asyncio.sleep(0.01)


def test_without_trusted_documents_nothing_is_prepared() -> None:
    with running() as backend:
        assert build_gateway(backend.settings()).trusted == ()
