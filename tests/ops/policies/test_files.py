"""Files that are missing, corrupt, stale or changed by hand stop the start; nothing else does."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.aws.sts.tenants import Tenancy
from gateway.aws.wire.endpoint import AwsTarget
from gateway.demo import MODEL
from gateway.errors import ConfigurationError
from gateway.iam.policies.generate import documents
from gateway.model.entity import Attribute
from gateway.model.tenant import tenant_id
from gateway.model.types import Text
from gateway.ops.policies import files
from gateway.ops.policies.files import (
    README,
    load_policies,
    permissions_for,
    stale_policies,
    unsafe_policies,
    write_policies,
)
from tests.model.build import ATTRIBUTES, model, thing

ACME = tenant_id("acme")
POOL = Tenancy(
    "pool", "arn:aws:iam::123456789012:role/gateway-tenant", AwsTarget.regional("dynamodb", "eu-west-1"), "eu-west-1"
)


@pytest.fixture
def written(tmp_path: Path) -> Path:
    write_policies(tmp_path, MODEL)
    return tmp_path


def faults(directory: Path) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        load_policies(directory, MODEL)
    return caught.value.faults


def test_what_is_written_is_loaded_and_not_written_again(tmp_path: Path) -> None:
    directory = tmp_path / "below" / "policies"
    assert set(write_policies(directory, MODEL)) == {*documents(MODEL), README}
    assert write_policies(directory, MODEL) == []
    assert stale_policies(directory, MODEL) == []
    assert list(load_policies(directory, MODEL).sessions) == list(MODEL.all_roles)


def test_a_directory_that_is_missing_is_one_fault_that_says_what_to_do(tmp_path: Path) -> None:
    missing = tmp_path / "none"
    assert faults(missing) == [f"policies_dir: there is no directory `{missing}`; `gateway policies` writes it"]


def test_without_a_directory_the_model_says_what_is_served(written: Path) -> None:
    assert load_policies(None, MODEL) == load_policies(written, MODEL)


def test_other_white_space_is_the_same_document(written: Path) -> None:
    path = written / "boundary.json"
    path.write_text(json.dumps(json.loads(path.read_text())).replace("\n", "\r\n"))
    assert "OwnItems" in str(load_policies(written, MODEL).documents["boundary.json"])
    assert stale_policies(written, MODEL)[0].startswith("boundary.json: stale")


@pytest.mark.parametrize("name", documents(MODEL))
def test_a_missing_file_stops_the_start(written: Path, name: str) -> None:
    (written / name).unlink()
    assert faults(written) == [f"policy file `{written / name}` cannot be read"]
    assert stale_policies(written, MODEL) == [f"{name}: missing"]


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff\xfe", b'{"Version": "2012-10-17", "Version": "2012-10-17"}']
)
def test_a_corrupt_file_stops_the_start(written: Path, content: bytes) -> None:
    (written / "session-viewer.json").write_bytes(content)
    (fault,) = faults(written)
    assert fault.startswith(f"policy file `{written / 'session-viewer.json'}`")


def test_all_faults_are_reported_at_once(tmp_path: Path) -> None:
    assert len(faults(tmp_path)) == len(documents(MODEL))


def widened(document: dict[str, Any]) -> None:
    document["Statement"][0]["Action"].append("dynamodb:PutItem")


def narrowed(document: dict[str, Any]) -> None:
    document["Statement"][0]["Action"].remove("dynamodb:Query")


@pytest.mark.parametrize("change", [widened, narrowed])
def test_a_file_changed_by_hand_is_refused_with_the_statement_named(written: Path, change: Any) -> None:
    path = written / "session-viewer.json"
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    (fault,) = faults(written)
    assert "does not match the model (statements `OwnItems`): run `gateway policies`" in fault


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"Version": "2008-10-17"}, "statements `OwnItems`"),
        ({"Version": "2012-10-17", "Statement": "none"}, "statements `OwnItems`"),
        ({"Version": "2012-10-17", "Statement": [{"Effect": "Allow"}]}, "statements `#1`, `OwnItems`"),
    ],
)
def test_a_malformed_document_is_refused_with_a_message(written: Path, content: Any, said: str) -> None:
    (written / "session-viewer.json").write_text(json.dumps(content))
    assert said in faults(written)[0]


def test_a_change_outside_of_the_statements_is_refused(written: Path) -> None:
    path = written / "session-viewer.json"
    path.write_text(path.read_text().replace("2012-10-17", "2008-10-17"))
    assert "outside of its statements" in faults(written)[0]


def test_a_model_that_has_changed_makes_the_files_stale(written: Path) -> None:
    secret = Attribute("secret", Text(), "About a person.", personal=True)
    changed = model(thing(attributes=(*ATTRIBUTES, secret)))
    stale = stale_policies(written, changed)
    assert any(line.startswith("session-support.json: stale") and "+ " in line and "secret" in line for line in stale)
    with pytest.raises(ConfigurationError, match="session-support"):
        load_policies(written, changed)


def test_a_document_that_nobody_generates_is_reported(written: Path) -> None:
    (written / "extra.json").write_text("{}")
    assert stale_policies(written, MODEL) == ["extra.json: the model does not write such a file"]


def test_a_long_difference_is_cut(written: Path) -> None:
    (written / README).write_text("x\n" * 500)
    assert len(stale_policies(written, MODEL)[0].splitlines()) <= 41


def test_the_shipped_model_makes_safe_policies() -> None:
    assert unsafe_policies(MODEL) == []


def test_unsafe_documents_are_reported_with_file_and_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    made = documents(MODEL)
    made["tenant-role.json"]["Statement"][0]["Action"].append("dynamodb:Scan")
    made["session-support.json"]["Statement"][3]["Condition"]["ForAnyValue:StringEquals"]["dynamodb:Attributes"] = [
        f"attribute{number}" for number in range(200)
    ]
    monkeypatch.setattr(files, "documents", lambda model: made)
    found = unsafe_policies(MODEL)
    assert any(line.startswith("session-support.json has ") for line in found)
    assert any(line.startswith("tenant-role.json OwnItems: `dynamodb:Scan`") for line in found)


def test_permissions_follow_the_tenant_to_where_it_lives(written: Path) -> None:
    permissions = permissions_for(load_policies(written, MODEL), MODEL)
    silo = Tenancy("silo", "arn:aws-cn:iam::999999999999:role/silo", AwsTarget("http://127.0.0.1:1", "cn-north-1"), "x")
    for tenancy, table in ((POOL, "pool"), (silo, "silo")):
        body = {"TableName": table, "Key": {"PK": {"S": "TENANT#acme#X"}, "SK": {"S": "X"}}}
        assert permissions(tenancy, ACME, "viewer", None).check("GetItem", body).allowed
        assert not permissions(tenancy, tenant_id("globex"), "viewer", None).check("GetItem", body).allowed


def test_a_deployment_whose_policies_aws_would_refuse_is_refused(
    written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "oversized", lambda documents, deployment: ["boundary.json is too long"])
    with pytest.raises(ConfigurationError, match="too long"):
        permissions_for(load_policies(written, MODEL), MODEL)(POOL, ACME, "viewer", None)
