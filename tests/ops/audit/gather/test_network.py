from gateway.iam.generate import ENDPOINT_FILE
from gateway.ops.audit.facts import Facts
from gateway.ops.audit.gather.network import endpoint_facts
from tests.ops.audit.scripted import Scripted
from tests.ops.audit.world import policy


def test_an_endpoint_comes_with_its_routes_and_its_policy(facts: Facts) -> None:
    assert isinstance(facts.endpoints, tuple)
    [found] = facts.endpoints
    assert (found.kind, found.state, found.routes) == ("Gateway", "available", 1)
    assert found.policy == policy(ENDPOINT_FILE)


def test_one_vpc_can_be_named() -> None:
    asked: list[object] = []

    def answer(**parameters: object) -> dict[str, object]:
        asked.append(parameters["Filters"])
        return {"VpcEndpoints": [{"VpcEndpointId": "vpce-1", "SubnetIds": ["a", "b"]}]}

    [found] = endpoint_facts(Scripted({"describe_vpc_endpoints": answer}), "eu-west-1", "vpc-1")
    assert (found.routes, found.state, found.policy) == (2, "unknown", {})
    assert {"Name": "vpc-id", "Values": ["vpc-1"]} in asked[0]  # type: ignore[operator]  # a list of filters
