"""The gateway starts from Terraform's output and serves a tenant, on the account that Terraform made."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.model.tenant import tenant_id
from gateway.settings import Settings, load_settings
from gateway.store.write.items import items_for
from tests.terraform.deployed import NAME, Deployed
from tests.terraform.enforced import enforced
from tests.terraform.served import Served, serving

_QUERY = '{ product(productId: "p-1") { productId title } }'
_TITLES = {"acme": "Anvil", "globex": "Orbital mirror"}
_SECRET = "a-secret-of-the-tests-0123456789-0123456789"


@pytest.fixture(scope="module")
def config(deployed: Deployed) -> dict[str, Any]:
    """`terraform output -json gateway_config`, and one product of each tenant with the same id."""
    client = deployed.client("dynamodb")
    for tenant, title in _TITLES.items():
        values = {"productId": "p-1", "title": title, "price": 10, "currency": "EUR", "categoryId": "tools"}
        for item in items_for(MODEL, MODEL.entities["Product"], tenant_id(tenant), values):
            client.put_item(TableName=NAME, Item=item)
    found: dict[str, Any] = deployed.workspace.output("gateway_config")
    return found


@pytest.fixture(scope="module")
def on_moto(deployed: Deployed, config: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """On moto as it is, which stores and answers, and authorises everybody."""
    role = deployed.workspace.output("gateway_role_arn")
    keys = deployed.client("sts").assume_role(RoleArn=role, RoleSessionName="task")["Credentials"]
    environment = {
        "GATEWAY_ENVIRONMENT": "sandbox",
        "GATEWAY_DYNAMODB_ENDPOINT": deployed.url,
        "GATEWAY_STS_ENDPOINT": deployed.url,
        "AWS_ACCESS_KEY_ID": keys["AccessKeyId"],
        "AWS_SECRET_ACCESS_KEY": keys["SecretAccessKey"],
        "AWS_SESSION_TOKEN": keys["SessionToken"],
    }
    with serving(config, tmp_path_factory.mktemp("served"), environment) as served:
        yield served


@pytest.mark.parametrize("tenant", _TITLES)
def test_a_tenant_is_served(tenant: str, on_moto: Served, deployed: Deployed) -> None:
    answer = on_moto.post(deployed.issuer.token(tenant, "viewer"), _QUERY)
    assert answer == {"data": {"product": {"productId": "p-1", "title": _TITLES[tenant]}}}


def test_the_gateways_lines_are_those_that_the_filters_count(on_moto: Served, deployed: Deployed) -> None:
    on_moto.post(deployed.issuer.token("acme", "viewer"), _QUERY)
    operations: list[dict[str, Any]] = []
    end = time.monotonic() + 60
    while not operations and time.monotonic() < end:
        time.sleep(0.05)  # lines are written together
        lines = [json.loads(line) for line in on_moto.log.read_text().splitlines() if line.endswith("}")]
        operations = [line for line in lines if line["logger"] == "gateway.operation"]
    assert operations
    for line in operations:
        assert line.keys() >= {"codes", "status", "duration_ms", "consumed_capacity"}


def test_a_tenant_is_served_where_the_installed_documents_are_enforced(
    deployed: Deployed, config: dict[str, Any], tmp_path: Path
) -> None:
    with enforced(deployed) as front:
        environment = {
            "GATEWAY_ENVIRONMENT": "sandbox",
            "GATEWAY_DYNAMODB_ENDPOINT": front.url,
            "GATEWAY_STS_ENDPOINT": front.url,
            "AWS_ACCESS_KEY_ID": front.gateway.access_key,
            "AWS_SECRET_ACCESS_KEY": front.gateway.secret_key,
        }
        with serving(config, tmp_path, environment) as served:
            answer = served.post(deployed.issuer.token("globex", "viewer"), _QUERY)
        assert answer["data"]["product"]["title"] == _TITLES["globex"]
        # the isolation layer is there: a session of one tenant, used without the gateway
        own, foreign = (front.read(as_tenant="acme", owner=owner) for owner in ("acme", "globex"))
        assert own["Item"]["title"]["S"] == _TITLES["acme"]
        assert foreign == "AccessDeniedException"


def test_the_output_has_the_names_of_settings_and_no_secret(config: dict[str, Any]) -> None:
    assert config.keys() <= Settings.model_fields.keys()
    assert not {"cursor_secret", "environment", "host", "port"} & config.keys()


def test_the_task_gets_the_same_settings(
    deployed: Deployed, config: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = deployed.client("ecs").describe_task_definition(taskDefinition=NAME)["taskDefinition"]
    file = tmp_path / "gateway.json"
    file.write_text(json.dumps(config))
    monkeypatch.setenv("GATEWAY_CURSOR_SECRET", _SECRET)
    # the issuer of this test has no certificate, which production does not take
    monkeypatch.setenv("GATEWAY_ENVIRONMENT", "sandbox")
    monkeypatch.setenv("GATEWAY_HOST", "0.0.0.0")  # noqa: S104  as in a container
    from_file = load_settings(file)
    for each in task["containerDefinitions"][0]["environment"]:
        monkeypatch.setenv(each["name"], each["value"])
    assert load_settings() == from_file


def test_the_same_is_kept_in_a_parameter(deployed: Deployed, config: dict[str, Any]) -> None:
    parameter = deployed.client("ssm").get_parameter(Name=f"/{NAME}/gateway-config")["Parameter"]
    assert json.loads(parameter["Value"]) == config
