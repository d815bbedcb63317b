"""Inputs of the stack that must not plan, each with its message; and what exists already, taken over."""

import json
from typing import Any

import pytest

from tests.terraform.alarms import alarms
from tests.terraform.caller import ISSUERS, caller, existing_vpc
from tests.terraform.deployed import administrator
from tests.terraform.log_pattern import matches
from tests.terraform.plan import Plan
from tests.terraform.servers import moto
from tests.terraform.tool import Failed, Workspace, copied

_IMAGE = "registry.example.com/gateway:1.0.0"
_ARN = "arn:aws:iam::123456789012:role"
_VPC = {"vpc_id": "vpc-1", "cidr": "10.0.0.0/16", "private_subnet_ids": ["a", "b"], "route_table_ids": ["rtb-1"]}
_KEYS = {name: f"arn:aws:kms:eu-west-1:123456789012:key/{name}-0001" for name in ("data", "operations")}

# what is wrong in one place does not hide the next; what depends on it is not looked at, hence several plans
_WRONG: dict[str, dict[str, Any]] = {
    "values": {
        "issuers": [
            {**ISSUERS[0], "issuer": "http://issuer.example.com/"},
            {**ISSUERS[0], "jwks_url": "ftp://issuer.example.com/jwks", "audience": []},
        ],
        "gateway": {"run": True},
        "gateway_settings": {"silos": {"acme": {"tenant_role_arn": f"{_ARN}/silo"}}},
        "backup": {"keep_days": 0},
    },
    "members": {
        "issuers": [{**ISSUERS[0], "audiense": ["x"]}],
        "network": {"create": {"zonse": 3}},
        "gateway_settings": {"max_dept": 3, "silos": {"acme": {"tabel_name": "x"}}},
        "capacity": {"provisioned": {"indexes": {"GSI1": {"reed": {"min": 1, "max": 2}}}}},
        "gateway": {"size": {"memroy": 1024}, "zones": 2},
        "audit": {"writes_only": True},
    },
    "small": {
        "network": {"create": {"cidr": "10.0.0.0/26"}},
        "policies_dir": "/nowhere",
        "table_file": "/nowhere.json",
        "keys": {
            "existing": {"data_arn": "alias/mine", "operations_arn": _KEYS["operations"].replace("eu-west", "us-west")}
        },
    },
    "ipv6": {"network": {"create": {"cidr": "2001:db8::/56"}}, "issuers": [{**ISSUERS[0], "audience": [" "]}]},
    "both": {"network": {"create": {}, "existing": _VPC}},
    "size": {
        "network": {"create": {"zones": 6}},
        "gateway": {
            "run": True,
            "image": _IMAGE,
            "size": {"cpu": 512, "memory": 8192},
            "client_cidrs": ["2001:db8::/32"],
        },
        "gateway_settings": {"drain_timeout_seconds": 101},
    },
    "private": {
        "gateway": {"run": True, "image": _IMAGE, "internal": False, "certificate_arn": "arn:aws:acm:x"},
        "bus": {
            "servers": ["tls://bus.example.com"],
            "size": {"cpu": 256, "memory": 4096, "architecture": "arm"},
        },
    },
}
_EXPECTED = {
    "keys of an issuer in the clear": ("values", "Each `issuer` and `jwks_url` is an address with https://"),
    "which addresses": (
        "values",
        "Not: http://issuer.example.com/, ftp://issuer.example.com/jwks.",
    ),
    "a blank audience": ("ipv6", "Each issuer needs an `audience` that is not empty"),
    "which role of a silo": ("values", f"Missing: {_ARN}/silo."),
    "a task that is killed while it drains": ("size", "are at most 110 together"),
    "an issuer without audience": ("values", "Each issuer needs an `audience` that is not empty"),
    "a gateway that runs no image": ("values", "`gateway.run` is true and `gateway.image` names no image"),
    "a silo whose role cannot be assumed": ("values", "`further_tenant_role_arns` does not name"),
    "backups that are kept for no day": ("values", "Backups are kept for at least one day"),
    "a member of a list": ("members", "`issuers.0.audiense` (there are additional_audiences, algorithms,"),
    "a member of an object": ("members", "`network.create.zonse` (there are cidr, nat, public, zones)"),
    "a setting": ("members", "`gateway_settings.max_dept`"),
    "a member in a map": ("members", "`gateway_settings.silos.acme.tabel_name`"),
    "a member five levels down": ("members", "`capacity.provisioned.indexes.GSI1.reed` (there are read, write)"),
    "a member of a part": ("members", "`gateway.size.memroy`"),
    "a member in the wrong place": ("members", "`gateway.zones`"),
    "a member that there was": (
        "members",
        "`audit.writes_only` (there are data_events, force_destroy, retention_days)",
    ),
    "a network without room": ("small", "The CIDR is a network of IPv4 from /16 to /22"),
    "no policies": ("small", "`gateway policies --directory DIRECTORY` writes all of them"),
    "no table": ("small", "`gateway terraform-inputs --path FILE` writes it"),
    "a key by its alias": ("small", "Name a key by its ARN"),
    "a key of another region": ("small", "one of these is not in eu-west-1"),
    "a network of IPv6": ("ipv6", "The CIDR is a network of IPv4"),
    "to make a VPC and name one": ("both", "Either make a VPC (`create`) or name one (`existing`), and not both"),
    "more zones than there are": ("size", "`create.zones` asks for 6 zones, and eu-west-1 has 3"),
    "a task that Fargate does not have": ("size", "Fargate has no task of this size"),
    "a task for the stream that Fargate does not have": ("private", "var.stream.size.memory is 4096"),
    "a processor that Fargate does not have": ("private", "The architecture is `X86_64` or `ARM64`"),
    "clients with IPv6": ("size", "the load balancer has no IPv6 address"),
    "a public load balancer in private subnets": ("private", "One that faces the internet needs public ones"),
}


@pytest.fixture(scope="module")
def stack(provider: None, tmp_path_factory: pytest.TempPathFactory, account: str) -> Workspace:
    return caller(copied(tmp_path_factory.mktemp("caller")), account)


def _refused(stack: Workspace, inputs: dict[str, Any], **variables: str) -> str:
    """What Terraform said; nothing where it planned."""
    try:
        stack.plan(inputs=inputs, **variables)
    except Failed as error:
        return " ".join(str(error).split())
    return ""


@pytest.fixture(scope="module")
def refusals(stack: Workspace) -> dict[str, str]:
    return {name: _refused(stack, inputs) for name, inputs in _WRONG.items()}


@pytest.mark.parametrize(("plan", "expected"), _EXPECTED.values(), ids=_EXPECTED)
def test_it_is_refused_with_a_message(plan: str, expected: str, refusals: dict[str, str]) -> None:
    assert expected in refusals[plan]


def test_a_partition_with_other_names_is_refused(stack: Workspace) -> None:
    assert "and not for aws-cn" in _refused(stack, {}, region="cn-north-1")


@pytest.fixture(scope="module")
def reused(provider: None, tmp_path_factory: pytest.TempPathFactory) -> Plan:
    """Everything that may exist already does; and what the alarms on capacity and roles follow from."""
    folder = tmp_path_factory.mktemp("reused")
    with moto(folder) as url:
        existing = existing_vpc(administrator("ec2", url))
        inputs = {
            "network": {"existing": existing, "interface_endpoints": []},
            "keys": {"existing": {f"{name}_arn": arn for name, arn in _KEYS.items()}},
            "gateway": {"run": True, "image": _IMAGE},
            "capacity": {
                "mode": "provisioned",
                "provisioned": {
                    "read": {"min": 95, "max": 100},
                    "indexes": {"GSI1": {"read": {"min": 5, "max": 100}}},
                },
            },
            "audit": {},
            "deployment_role_arns": [f"{_ARN}/deploy"],
            "further_tenant_role_arns": [f"{_ARN}/silo"],
            "gateway_settings": {
                "tenants": ["stopped", "alone", "acme", "globex"],
                "suspended_tenants": ["stopped"],
                "silos": {"alone": {"tenant_role_arn": f"{_ARN}/silo"}},
            },
        }
        return caller(copied(folder), url).plan(inputs=inputs)


def test_a_vpc_keeps_its_endpoint_and_gets_no_second_one(reused: Plan) -> None:
    assert not reused.of("aws_vpc")
    assert not reused.of("aws_vpc_endpoint")
    rules = reused.of("aws_vpc_security_group_egress_rule", 'gateways["dynamodb"]')
    assert len(rules) == 1


def test_keys_that_exist_are_used_and_none_is_made(reused: Plan) -> None:
    assert not reused.of("aws_kms_key")
    assert not reused.of("aws_kms_alias")
    assert reused.one("aws_dynamodb_table")["server_side_encryption"][0]["kms_key_arn"] == _KEYS["data"]
    assert {topic["kms_master_key_id"] for topic in reused.of("aws_sns_topic").values()} == {_KEYS["operations"]}
    pattern = json.loads(reused.one("aws_cloudwatch_event_rule", ".data_key")["event_pattern"])
    assert pattern["detail"]["requestParameters"]["keyId"] == ["data-0001", _KEYS["data"]]


def test_readiness_is_checked_as_a_tenant_of_the_shared_table(reused: Plan) -> None:
    assert reused.outputs()["gateway_config"]["readiness_tenant"] == "acme"


def test_what_policies_of_others_must_allow_is_put_out(reused: Plan) -> None:
    policies = {name: json.loads(text) for name, text in reused.outputs()["required_policies"].items()}
    sids = {name: {statement["Sid"] for statement in policy["Statement"]} for name, policy in policies.items()}
    assert "TenantsThroughDynamoDB" in sids["data_key"]
    assert {"Alarms", "Events"} <= sids["operations_key"]
    assert "TenantRoleOnly" in sids["dynamodb_endpoint"]


def test_a_ceiling_that_capacity_never_leaves_has_no_alarm(reused: Plan) -> None:
    found = {name for name in alarms(reused) if name.endswith("-ceiling")}
    assert "gsi1-read-ceiling" in found
    assert "table-write-ceiling" in found
    assert not found & {"table-read-ceiling", "gsi2-read-ceiling", "gsi3-read-ceiling"}


def test_a_change_of_the_roles_by_a_deployment_is_a_notice_and_one_by_others_pages(reused: Plan) -> None:
    filters = {
        each["metric_transformation"][0]["name"]: each["pattern"]
        for each in reused.of("aws_cloudwatch_log_metric_filter", ".trail").values()
    }
    assert all(len(pattern) <= 1024 for pattern in filters.values())
    change = {"eventSource": "iam.amazonaws.com", "requestParameters": {"roleName": "shop-eu-west-1-tenant"}}

    def counted(identity: dict[str, Any]) -> set[str]:
        return {name for name, pattern in filters.items() if matches(pattern, {**change, "userIdentity": identity})}

    assert counted({"sessionContext": {"sessionIssuer": {"arn": f"{_ARN}/deploy"}}}) == {"RoleDeployments"}
    assert counted({"sessionContext": {"sessionIssuer": {"arn": f"{_ARN}/other"}}}) == {"RoleChanges"}
    assert counted({"type": "IAMUser", "arn": "arn:aws:iam::123456789012:user/ann"}) == {"RoleChanges"}
    found = alarms(reused)
    assert (found["roles-changed"].severity, found["roles-deployed"].severity) == ("critical", "info")
