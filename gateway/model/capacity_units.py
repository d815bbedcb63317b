"""The formulas: sizes in bytes to capacity units, as DynamoDB counts them."""

from math import ceil
from typing import Final

READ_BLOCK: Final = 4_096
WRITE_BLOCK: Final = 1_024
TRANSACTION: Final = 2

_EVENTUAL: Final = 0.5


def read_units(size: float, *, strong: bool = False, transactional: bool = False) -> float:
    """Of one item by its key; each item of a batch is rounded up for itself."""
    return _blocks(size, READ_BLOCK) * _factor(strong=strong, transactional=transactional)


def query_units(items: float, size: float, *, strong: bool = False) -> float:
    """Of one Query: what it reads is added up first and rounded up once."""
    return _blocks(items * size, READ_BLOCK) * _factor(strong=strong, transactional=False)


def write_units(size: float, *, transactional: bool = False) -> int:
    """Of one item, the larger of what it was and what it becomes."""
    return _blocks(size, WRITE_BLOCK) * (TRANSACTION if transactional else 1)


def _blocks(size: float, block: int) -> int:
    # even what finds nothing costs one
    return max(1, ceil(size / block))


def _factor(*, strong: bool, transactional: bool) -> float:
    if transactional:
        return TRANSACTION
    return 1 if strong else _EVENTUAL
