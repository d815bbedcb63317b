"""The worked examples of DynamoDB's own guides, and those of this project's specification."""

import pytest

from gateway.store.capacity_units import query_units, read_units, write_units

KB = 1_024


def test_500_writes_of_2_5_kb_are_1500_wcu() -> None:
    assert 500 * write_units(2.5 * KB) == 1_500


def test_2000_eventual_reads_of_3_kb_are_1000_rcu() -> None:
    assert 2_000 * read_units(3 * KB) == 1_000


@pytest.mark.parametrize(
    ("size", "strong", "units"),
    [(1, False, 0.5), (4 * KB, True, 1), (4 * KB + 1, True, 2), (8 * KB, False, 1), (8 * KB, True, 2), (0, True, 1)],
)
def test_reads_are_rounded_up_to_4_kb(size: int, strong: bool, units: float) -> None:
    assert read_units(size, strong=strong) == units


@pytest.mark.parametrize(("size", "units"), [(0, 1), (1, 1), (KB, 1), (KB + 1, 2), (3 * KB, 3)])
def test_writes_are_rounded_up_to_1_kb(size: int, units: int) -> None:
    assert write_units(size) == units


def test_transactions_double() -> None:
    assert write_units(3 * KB, transactional=True) == 6


def test_a_query_is_rounded_up_once_and_a_batch_for_each_item() -> None:
    assert query_units(10, 500) == 1
    assert 10 * read_units(500) == 5
    assert query_units(10, 500, strong=True) == 2
