"""A DAX cluster that the gateway reads from: made, reached and named by Terraform alone, and by nobody else's role."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import SecretStr

from gateway.iam.language.document import parse
from gateway.iam.language.evaluator import PolicySet, evaluate
from gateway.iam.language.verdict import Authorisation
from gateway.settings import Settings
from tests.terraform.conftest import PlanOf, WorkspaceOf
from tests.terraform.deployed import administrator
from tests.terraform.installed_policies import ACCOUNT, REGION
from tests.terraform.servers import moto
from tests.terraform.test_refused import _refusal
from tests.terraform.tool import Workspace, copied, workspace

_CLUSTER = f"arn:aws:dax:{REGION}:{ACCOUNT}:cache/gateway-dev-dax"
_TABLE = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/gateway-dev"
_READER = f"arn:aws:iam::{ACCOUNT}:role/gateway-dev-dax-{REGION}-reader"
_GATEWAY = f"arn:aws:iam::{ACCOUNT}:role/gateway-dev-{REGION}-gateway"


def _may(documents: list[Any], action: str, resource: str) -> bool:
    policies = PolicySet(tuple(parse(each, "identity") for each in documents))
    return evaluate(policies, Authorisation(action, resource, {})).allowed


def test_the_reader_reads_from_this_cluster_and_does_nothing_else(plan_of: PlanOf) -> None:
    [document] = plan_of("cached").documents("aws_iam_role_policy", "policy", "aws_iam_role_policy.reader").values()
    for action in ("GetItem", "BatchGetItem", "Query"):
        assert _may([document], f"dax:{action}", _CLUSTER)
        assert not _may([document], f"dax:{action}", _CLUSTER.replace("gateway-dev-dax", "other"))
        assert not _may([document], f"dynamodb:{action}", _TABLE)
    for action in ("Scan", "PutItem", "DeleteItem", "UpdateItem", "BatchWriteItem", "DeleteCluster"):
        assert not _may([document], f"dax:{action}", _CLUSTER)


def test_the_gateways_role_alone_assumes_it_and_still_reaches_no_data(plan_of: PlanOf) -> None:
    plan = plan_of("cached")
    [statement] = json.loads(plan.one("aws_iam_role", "aws_iam_role.reader")["assume_role_policy"])["Statement"]
    assert (statement["Action"], statement["Principal"]) == ("sts:AssumeRole", {"AWS": _GATEWAY})
    inline = plan.of("aws_iam_role_policy", "module.iam").values()
    own = [json.loads(each["policy"]) for each in inline if each["role"] == f"gateway-dev-{REGION}-gateway"]
    assert len(own) == 2
    assert _may(own, "sts:AssumeRole", _READER)
    assert not _may(own, "sts:AssumeRole", _READER.replace("reader", "writer"))
    assert not _may(own, "dax:GetItem", _CLUSTER)
    # the exclusive list of the role's policies knows the further one, or the next apply would take it off
    lists = plan.of("aws_iam_role_policies_exclusive", "module.iam").values()
    [kept] = [each["policy_names"] for each in lists if each["role_name"] == f"gateway-dev-{REGION}-gateway"]
    assert set(kept) == {f"gateway-dev-{REGION}-tenant", "dax-readers"}


def test_without_the_setting_there_is_no_reader_and_no_way(plan_of: PlanOf) -> None:
    plan = plan_of("extras")
    assert plan.of("aws_dax_cluster")
    assert not plan.of("aws_iam_role", "aws_iam_role.reader")
    assert not plan.of("aws_iam_role_policy", "dax_readers")
    assert not plan.of("aws_vpc_security_group_ingress_rule", "module.dax")


def test_the_tasks_and_the_cluster_let_each_other_through(plan_of: PlanOf) -> None:
    plan = plan_of("cached")
    inward = plan.one("aws_vpc_security_group_ingress_rule", "module.dax")
    outward = plan.one("aws_vpc_security_group_egress_rule", "further")
    assert (inward["from_port"], inward["to_port"]) == (outward["from_port"], outward["to_port"]) == (9111, 9111)


def test_a_cache_in_dax_without_a_cluster_is_refused(workspace_of: WorkspaceOf) -> None:
    assert "A cache in DAX needs a cluster" in _refusal(workspace_of, "envs/dev", cache="dax")
    assert "The cache is `off`, `ttl`, `dax` or `ttl+dax`" in _refusal(workspace_of, "envs/dev", cache="redis")


@pytest.fixture(scope="module")
def clustered(provider: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workspace, str]]:
    """The environment `dev` with a cluster that the gateway uses, run on a platform of one's own."""
    folder = tmp_path_factory.mktemp("clustered")
    with moto(folder) as url:
        made = workspace(copied(folder), "envs/dev", url)
        made.apply(dax={"accept_no_tenant_isolation": True}, cache="ttl+dax")
        yield made, url


def test_terraforms_output_is_all_that_the_gateway_needs_to_use_the_cluster(clustered: tuple[Workspace, str]) -> None:
    made, url = clustered
    config = made.output("gateway_config")
    settings = Settings(**config, cursor_secret=SecretStr("x" * 32))
    [cluster] = administrator("dax", url).describe_clusters()["Clusters"]
    endpoint = cluster["ClusterDiscoveryEndpoint"]
    assert settings.dax_endpoint == f"daxs://{endpoint['Address']}:{endpoint['Port']}"
    assert (settings.cache, settings.dax_role_arn) == ("ttl+dax", _READER)
    assert settings.dax_accept_gateway_only_isolation is True
    assert (settings.dax_item_ttl_seconds, settings.dax_query_ttl_seconds) == (300, 60)
    assert administrator("iam", url).get_role(RoleName=_READER.rpartition("/")[2])["Role"]["Arn"] == _READER
