from gateway.iam.policies.generate import ENDPOINT_FILE
from gateway.ops.audit.facts import Facts
from gateway.ops.audit.gather.everything import endpoint_facts
from tests.ops.audit.fixtures import policy
from tests.ops.audit.scripted import Scripted


def test_an_endpoint_comes_with_its_routes_and_its_policy(facts: Facts) -> None:
    assert isinstance(facts.endpoints, tuple)
    [found] = facts.endpoints
    assert (found.kind, found.state, found.routes) == ("Gateway", "available", 1)
    assert found.policy == policy(ENDPOINT_FILE)


def test_every_endpoint_of_the_region_is_listed_with_its_vpc() -> None:
    found = {"VpcEndpoints": [{"VpcEndpointId": "vpce-1", "VpcId": "vpc-1", "SubnetIds": ["a", "b"]}]}
    [endpoint] = endpoint_facts(Scripted({"describe_vpc_endpoints": found}), "eu-west-1")
    assert (endpoint.vpc, endpoint.routes, endpoint.state, endpoint.policy) == ("vpc-1", 2, "unknown", {})
