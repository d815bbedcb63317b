from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gateway.errors import BadUserInput
from gateway.model.tenant import MAX_PREFIX, TenantId, owns, partition, tenant_id

TENANTS = st.from_regex(r"[a-z0-9][a-z0-9-]{1,62}", fullmatch=True).map(tenant_id)


@pytest.mark.parametrize("text", ["ab", "acme", "a-b", "0cool", "a-", "9" * 63])
def test_a_tenant_id_is_lower_case_letters_digits_and_dashes(text: str) -> None:
    assert tenant_id(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("", "a", "-ab", "a#b", "acme#", "#acme", "TENANT#acme#", "a*", "*", "a?b", "${x}", "a_b", "a.b", "a/b"),
        *("a b", " ab", "ab\n", "\nab", "ab\x00", "Acme", "ACME", "akme\u0301", "аcme", "ａcme", "acme١"),
        *("a" * 64, "a" * 300),
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(BadUserInput, match="2 to 63 characters"):
        tenant_id(text)


@pytest.mark.parametrize("value", [None, 7, 7.5, True, ["acme"], {"acme": 1}, b"acme", ("acme",)])
def test_a_value_that_is_not_a_string_is_refused(value: Any) -> None:
    with pytest.raises(BadUserInput):
        tenant_id(value)


def test_the_refusal_does_not_repeat_what_was_given() -> None:
    with pytest.raises(BadUserInput) as caught:
        tenant_id("<script>")
    assert "<script>" not in caught.value.message


def test_every_partition_key_starts_with_the_tenant() -> None:
    assert partition(tenant_id("acme"), "USER#1") == "TENANT#acme#USER#1"


def test_a_tenant_whose_id_starts_like_another_one_owns_nothing_of_it() -> None:
    key = partition(tenant_id("acme-2"), "USER#1")
    assert owns(tenant_id("acme-2"), key)
    assert not owns(tenant_id("acme"), key)
    assert not owns(tenant_id("acme"), "TENANT#acme")
    assert not owns(tenant_id("acme"), "tenant#acme#USER#1")


@given(one=TENANTS, other=TENANTS, path=st.text(), foreign=st.text())
def test_keys_of_different_tenants_are_never_equal(one: TenantId, other: TenantId, path: str, foreign: str) -> None:
    assume(one != other)
    assert partition(one, path) != partition(other, foreign)
    assert not owns(one, partition(other, foreign))


@given(tenant=TENANTS)
def test_no_prefix_is_longer_than_is_reckoned_with(tenant: TenantId) -> None:
    assert len(partition(tenant, "")) <= MAX_PREFIX == 71
