"""The roles of a model as they are granted: actions on partitions, patterns, and what stays hidden."""

from gateway.demo import MODEL
from gateway.iam.policies.roles import Grant, gateway_role, owned_partitions, role_names, roles_of
from gateway.model.role import PERSONAL, Role

ROLE = {role.name: role for role in roles_of(MODEL)}


def test_every_role_that_has_a_session_is_there_in_its_order() -> None:
    assert role_names(MODEL) == tuple(ROLE) == tuple(MODEL.all_roles)
    assert [name for name, role in ROLE.items() if role.acting] == ["ordering"]
    assert [name for name, role in ROLE.items() if role.own] == ["customer", "ordering"]


def test_a_role_that_removes_nothing_has_no_batch_writes_on_items() -> None:
    assert ROLE["ordering"].actions == (
        *("BatchGetItem", "ConditionCheckItem", "GetItem", "PutItem", "Query", "UpdateItem"),
    )
    assert {"BatchWriteItem", "DeleteItem"} <= set(ROLE["admin"].actions)


def test_indexes_are_queried_and_nothing_else() -> None:
    on_index = [grant for grant in ROLE["customer"].grants if grant.index is not None]
    assert on_index
    assert {grant.actions for grant in on_index} == {("Query",)}


def test_a_whole_role_has_all_rows_and_a_limited_one_has_not() -> None:
    assert ROLE["viewer"].whole
    assert not ROLE["customer"].whole
    assert ROLE["viewer"].grants == (Grant(("BatchGetItem", "GetItem", "Query")),)


def test_a_sample_path_is_one_that_every_subject_shares_where_there_is_one() -> None:
    assert ROLE["viewer"].sample_path("GetItem") == "ANY"
    assert ROLE["viewer"].sample_path("PutItem") is None
    assert "{subject}" not in (ROLE["customer"].sample_path("GetItem") or "{subject}")
    assert "{subject}" in (ROLE["customer"].sample_path("DeleteItem") or "")


def test_owned_partitions_are_those_with_the_subject_without_records() -> None:
    rows = owned_partitions(ROLE["customer"])
    assert set(rows.owned) == {(None, "USER#{subject}"), ("GSI1", "USER#{subject}"), ("GSI1", "SESSION#OF#{subject}")}
    assert owned_partitions(ROLE["viewer"]).owned == ()


def test_a_pattern_whose_key_holds_a_hidden_attribute_is_out_of_use() -> None:
    assert "userByEmail" in ROLE["viewer"].patterns
    assert "userByPhone" not in ROLE["support"].patterns
    shows = gateway_role(MODEL, Role(name="clerk", description="", shows=("title",)))
    assert "note" in shows.hidden
    assert "title" not in shows.hidden


def test_a_role_that_reads_from_indexes_only_has_its_sample_there() -> None:
    listing = gateway_role(MODEL, Role(name="clerk", description="", reads=("allUsers",)))
    rows = owned_partitions(listing)
    assert (rows.sample, rows.sample_index) == ("USERS#ANY", "GSI2")
    assert owned_partitions(ROLE["customer"]).sample_index is None


def test_a_sample_path_is_not_one_where_a_find_reads_ids_only() -> None:
    role = Role(name="clerk", description="", reads=("User",), hides=PERSONAL, finds=("userByEmail",))
    assert gateway_role(MODEL, role).sample_path("Query", "GSI1") == "EMAIL#ANY"
    more = Role(name="clerk", description="", reads=("User", "userByPhone"), hides=("email",), finds=("userByEmail",))
    assert gateway_role(MODEL, more).sample_path("Query", "GSI1") == "PHONE#ANY"
