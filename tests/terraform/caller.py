"""A root of somebody else, which uses the module `stack` with inputs of its own."""

import json
from pathlib import Path
from typing import Any

from tests.terraform.tool import Workspace, workspace

ISSUERS = [
    {"issuer": "https://issuer.example.com/", "audience": ["gateway"], "jwks_url": "https://issuer.example.com/jwks"}
]
_INPUTS = {
    **dict.fromkeys(("table_file", "policies_dir", "dax", "bus", "backup", "budget", "audit"), "null"),
    **dict.fromkeys(("network", "keys", "capacity", "gateway", "gateway_settings", "alarms"), "{}"),
    **dict.fromkeys(("further_tenant_role_arns", "deployment_role_arns"), "[]"),
    "issuers": json.dumps(ISSUERS),
}
_ROOT = """
variable "region" {{ default = "eu-west-1" }}

variable "inputs" {{ type = any }}

provider "aws" {{
  region            = var.region
  s3_use_path_style = true
  max_retries       = 4
}}

module "stack" {{
  source = "../../modules/stack"
  name   = "shop"
{inputs}
}}

output "required_policies" {{ value = module.stack.required_policies }}

output "gateway_config" {{ value = module.stack.gateway_config }}
"""


def caller(sources: Path, aws: str) -> Workspace:
    """Its variable `inputs` has those of the stack that are given; the others have their defaults."""
    folder = sources / "examples" / "caller"
    folder.mkdir()
    given = "\n".join(f"  {name} = try(var.inputs.{name}, {default})" for name, default in _INPUTS.items())
    (folder / "main.tf").write_text(_ROOT.format(inputs=given))
    return workspace(sources, "examples/caller", aws)


def existing_vpc(client: Any) -> dict[str, Any]:
    """A VPC with two subnets, a route table and an endpoint for DynamoDB, as `network.existing` names it."""
    vpc = client.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    subnets = [
        client.create_subnet(VpcId=vpc, CidrBlock=f"10.9.{number}.0/24")["Subnet"]["SubnetId"] for number in range(2)
    ]
    table = client.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
    endpoint = client.create_vpc_endpoint(
        VpcId=vpc, VpcEndpointType="Gateway", ServiceName="com.amazonaws.eu-west-1.dynamodb", RouteTableIds=[table]
    )
    return {
        "vpc_id": vpc,
        "cidr": "10.9.0.0/16",
        "private_subnet_ids": subnets,
        "route_table_ids": [table],
        "endpoint_ids": {"dynamodb": endpoint["VpcEndpoint"]["VpcEndpointId"]},
    }
