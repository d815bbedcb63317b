"""Capacity units of reads and writes, from sizes in bytes, as DynamoDB counts them."""

from math import ceil
from typing import Final

READ_BLOCK: Final = 4_096
WRITE_BLOCK: Final = 1_024
TRANSACTION: Final = 2

_EVENTUAL: Final = 0.5


def read_units(size: float, *, strong: bool = False, transactional: bool = False) -> float:
    """The units of reading one item by its key; in a batch, each item is rounded up separately."""
    return _blocks(size, READ_BLOCK) * _factor(strong=strong, transactional=transactional)


def query_units(items: float, size: float, *, strong: bool = False) -> float:
    """The units of one Query: the sizes of its items are added up and rounded up once."""
    return _blocks(items * size, READ_BLOCK) * _factor(strong=strong, transactional=False)


def write_units(size: float, *, transactional: bool = False) -> int:
    """The units of writing one item; `size` is the larger of its old and its new size."""
    return _blocks(size, WRITE_BLOCK) * (TRANSACTION if transactional else 1)


def _blocks(size: float, block: int) -> int:
    # a request that finds nothing still costs one block
    return max(1, ceil(size / block))


def _factor(*, strong: bool, transactional: bool) -> float:
    if transactional:
        return TRANSACTION
    return 1 if strong else _EVENTUAL
