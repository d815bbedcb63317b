"""Terraform with its real provider, on copies of the sources, against an account that moto plays.

The provider comes from the folder in TF_PLUGIN_DIR, or from the registry. Without either these tests skip, and say so;
in CI (CI=true) they fail instead.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.terraform.deployed import Deployed, Undestroyed, deploy, refuse_destruction
from tests.terraform.plan import Plan
from tests.terraform.served import issuing
from tests.terraform.servers import moto
from tests.terraform.tool import Failed, Workspace, copied, workspace

# what each plan is made of: an environment and its variables
_IMAGE = "registry.example.com/gateway:1.0.0"
_CERTIFICATE = "arn:aws:acm:eu-west-1:123456789012:certificate/12345678-1234-1234-1234-123456789012"
_SECRET = "arn:aws:secretsmanager:eu-west-1:123456789012:secret"
_PLANS: dict[str, tuple[str, dict[str, Any]]] = {
    "dev": (
        "envs/dev",
        {
            "run_gateway": True,
            "gateway_image": _IMAGE,
            "tags": {"owner": "shop", "project": "web"},
            "runbooks": "https://runbooks.example.com",
        },
    ),
    "prod": ("envs/prod", {"run_gateway": True, "gateway_image": _IMAGE, "certificate_arn": _CERTIFICATE}),
    "provisioned": ("envs/prod", {"capacity_mode": "provisioned"}),
    # what is off otherwise: a cluster, and sessions that are cut off
    "extras": (
        "envs/dev",
        {
            "dax": {"accept_no_tenant_isolation": True},
            "revoke_sessions": {"all_before": "2026-01-31T10:00:00Z", "tenants": {"acme": "2026-01-31T12:00:00Z"}},
        },
    ),
    # a cluster that the gateway reads from
    "cached": (
        "envs/dev",
        {"run_gateway": True, "gateway_image": _IMAGE, "dax": {"accept_no_tenant_isolation": True}, "cache": "ttl+dax"},
    ),
    # a bus, filled by tasks that read the table's stream
    "streamed": (
        "envs/dev",
        {
            "run_gateway": True,
            "gateway_image": _IMAGE,
            "bus": {
                "servers": ["tls://bus.example.com:4222"],
                "security_group_id": "sg-0123456789abcdef0",
                "web": {"user": "web", "password_secret_arn": f"{_SECRET}:web"},
                "reader": {"user": "reader", "password_secret_arn": f"{_SECRET}:reader"},
            },
        },
    ),
    "minimal": ("examples/minimal", {}),
}

PlanOf = Callable[[str], Plan]
WorkspaceOf = Callable[[str], Workspace]


def _unable(reason: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(f"terraform cannot be tested, and CI skips nothing: {reason}")
    pytest.skip(f"TERRAFORM IS NOT TESTED: {reason}")


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources, for what changes nothing."""
    if shutil.which("terraform") is None:
        _unable("there is no terraform on the path; version 1.11 or newer is needed")
    return copied(tmp_path_factory.mktemp("sources"))


@pytest.fixture(scope="session")
def provider(sources: Path) -> None:
    """That the provider can be had."""
    try:
        workspace(sources, "modules/kms")
    except Failed as error:
        message = "" if os.environ.get("TF_PLUGIN_DIR") else "TF_PLUGIN_DIR names no folder with the provider, and "
        faults = [line for line in str(error).splitlines() if line.startswith("Error: ")]
        _unable(f"{message}terraform init failed: {' '.join(faults)}")


@pytest.fixture(scope="session")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An empty account, which stays empty: plans look up its number and zones."""
    with moto(tmp_path_factory.mktemp("account")) as url:
        yield url


@pytest.fixture(scope="session")
def workspace_of(provider: None, sources: Path, account: str) -> WorkspaceOf:
    roots = {root for root, _ in _PLANS.values()}
    made = {root: workspace(sources, root, account) for root in roots}
    return made.__getitem__


@pytest.fixture(scope="session")
def plan_of(workspace_of: WorkspaceOf) -> Iterator[PlanOf]:
    """All plans are begun with the first, two at a time: most of one is waiting for the provider."""
    with ThreadPoolExecutor(2) as pool:
        made = {name: pool.submit(workspace_of(root).plan, **variables) for name, (root, variables) in _PLANS.items()}
        yield lambda name: made[name].result()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What needs the deployment comes last, and what changes it after everything else: it takes a while to be made."""

    def place(item: pytest.Item) -> tuple[bool, bool]:
        return "deployed" in getattr(item, "fixturenames", ()), item.path.name == "test_apply.py"

    items.sort(key=place)


@pytest.fixture(scope="session", autouse=True)
def _background(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Future[Any]]]:
    """Begun at once where a test needs it: a load balancer alone takes the provider a minute of waiting."""
    fixtures = {name for item in request.session.items for name in getattr(item, "fixturenames", ())}
    if not fixtures & {"deployed", "undestroyed"}:
        yield {}
        return
    request.getfixturevalue("provider")
    folder, other = tmp_path_factory.mktemp("deployed"), tmp_path_factory.mktemp("prod")
    with ExitStack() as stack:
        aws, second = stack.enter_context(moto(folder)), stack.enter_context(moto(other))
        issuer = stack.enter_context(issuing(frozenset(("acme", "globex"))))
        # left before the servers are stopped
        pool = stack.enter_context(ThreadPoolExecutor(2))
        yield {
            "deployed": pool.submit(deploy, copied(folder), aws, issuer, _IMAGE),
            "undestroyed": pool.submit(refuse_destruction, copied(other), second),
        }


@pytest.fixture(scope="session")
def deployed(_background: dict[str, Future[Deployed]]) -> Deployed:
    """The environment `dev`, applied to an account of its own."""
    return _background["deployed"].result()


@pytest.fixture(scope="session")
def undestroyed(_background: dict[str, Future[Undestroyed]]) -> Undestroyed:
    """The table of `prod`, after Terraform was told to destroy it."""
    return _background["undestroyed"].result()
