import json

import pytest

from gateway.ops.audit.facts import BackupFacts, Facts, KeyFacts, TtlFacts
from gateway.ops.audit.gather.account import FactUnavailable
from gateway.ops.audit.gather.table import backup_facts, key_facts, table_facts, table_policy, ttl_facts
from gateway.ops.capacity.demand import Need
from tests.ops.audit.fixtures import TABLE
from tests.ops.audit.scripted import Scripted, refused

NO_LIMIT = Need(float("inf"), float("inf"))


def test_a_table_on_demand_is_read_as_it_is(facts: Facts) -> None:
    table = facts.table
    assert table.on_demand
    assert table.arn.endswith(f"table/{TABLE}")
    assert (table.keys, set(table.indexes)) == (("PK", "SK"), {"GSI1", "GSI2", "GSI3", "GSI4", "GSI5"})
    assert (table.limit, table.deletion_protection) == (NO_LIMIT, True)
    assert table.indexes["GSI1"].keys == ("GSI1PK", "GSI1SK")
    assert table.stream == "NEW_AND_OLD_IMAGES"
    assert facts.key == KeyFacts("CUSTOMER", "Enabled", rotates=True)
    assert (facts.ttl, facts.backups) == (TtlFacts("ENABLED", "ttl"), BackupFacts(enabled=True, days=35))


def test_an_old_table_without_a_billing_mode_is_provisioned() -> None:
    described = {
        "TableArn": "arn",
        "KeySchema": [{"AttributeName": "SK", "KeyType": "RANGE"}, {"AttributeName": "PK", "KeyType": "HASH"}],
        "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 7},
        "OnDemandThroughput": {"MaxReadRequestUnits": 100, "MaxWriteRequestUnits": -1},
        "SSEDescription": {"KMSMasterKeyArn": "key"},
        "GlobalSecondaryIndexes": [
            {"IndexName": "X", "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["b", "a"]}}
        ],
    }
    table = table_facts(Scripted({"describe_table": {"Table": described}}), "old")
    assert not table.on_demand
    assert (table.keys, table.provisioned, table.key_arn) == (("PK", "SK"), Need(5, 7), "key")
    assert table.stream is None
    assert table.limit == Need(100, float("inf"))
    assert table.indexes["X"].projection == "INCLUDE a b"


def test_a_table_without_ttl_and_recovery_is_reported() -> None:
    silent = Scripted({"describe_time_to_live": {}, "describe_continuous_backups": {}})
    assert ttl_facts(silent, "t") == TtlFacts("DISABLED", None)
    assert backup_facts(silent, "t") == BackupFacts(enabled=False, days=None)


def test_no_resource_policy_is_a_fact_and_a_denial_is_none() -> None:
    assert table_policy(Scripted({"get_resource_policy": refused("PolicyNotFoundException")}), "arn") is None
    found = Scripted({"get_resource_policy": {"Policy": json.dumps({"Statement": []})}})
    assert table_policy(found, "arn") == {"Statement": []}
    assert table_policy(Scripted({"get_resource_policy": {"Policy": "[]"}}), "arn") == {}
    with pytest.raises(FactUnavailable):
        table_policy(Scripted({"get_resource_policy": refused("AccessDeniedException")}), "arn")


def test_dynamodbs_own_key_is_none_and_that_of_the_service_is_not_asked_for_its_rotation() -> None:
    assert key_facts(Scripted({}), None) is None
    off = {"TableArn": "arn", "SSEDescription": {"Status": "DISABLED", "KMSMasterKeyArn": "former"}}
    assert table_facts(Scripted({"describe_table": {"Table": off}}), "t").key_arn is None
    managed = Scripted({"describe_key": {"KeyMetadata": {"KeyManager": "AWS", "KeyState": "Enabled"}}})
    assert key_facts(managed, "arn") == KeyFacts("AWS", "Enabled", rotates=False)
