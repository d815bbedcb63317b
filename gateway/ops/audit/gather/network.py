"""The VPC endpoints through which DynamoDB can be reached."""

from gateway.ops.audit.account import Live
from gateway.ops.audit.facts import EndpointFacts
from gateway.ops.audit.gather.roles import document


def endpoint_facts(live: Live, region: str) -> tuple[EndpointFacts, ...]:
    """Of the whole region; which of them are the gateway's is judged later."""
    name = f"com.amazonaws.{region}.dynamodb"
    # the name as it is in China, too
    filters = [{"Name": "service-name", "Values": [name, f"cn.{name}"]}]
    found = live.pages("ec2", "describe_vpc_endpoints", "VpcEndpoints", Filters=filters)
    return tuple(
        EndpointFacts(
            name=each["VpcEndpointId"],
            kind=each.get("VpcEndpointType", "Gateway"),
            vpc=each.get("VpcId", ""),
            state=each.get("State", "unknown").lower(),
            routes=len(each.get("RouteTableIds") or each.get("SubnetIds") or ()),
            policy=document(each.get("PolicyDocument")),
        )
        for each in found
    )
