"""Capacity units of reads and writes, from sizes in bytes, as DynamoDB counts them."""

from math import ceil
from typing import Final

READ_BLOCK: Final = 4_096
WRITE_BLOCK: Final = 1_024
TRANSACTION: Final = 2
RECORD_BYTES: Final = 1_000  # an idempotency record, or the record that claims a unique value

_EVENTUAL: Final = 0.5


def read_units(size: float, *, strong: bool = False) -> float:
    """Returns the units of reading one item by its key; in a batch, each item is rounded up separately."""
    return _blocks(size, READ_BLOCK) * (1 if strong else _EVENTUAL)


def query_units(items: float, size: float, *, strong: bool = False) -> float:
    """Returns the units of one Query: the sizes of its items are summed and rounded up once."""
    return _blocks(items * size, READ_BLOCK) * (1 if strong else _EVENTUAL)


def write_units(size: float, *, transactional: bool = False) -> int:
    """Returns the units of writing one item; `size` is the larger of its old and its new size."""
    return _blocks(size, WRITE_BLOCK) * (TRANSACTION if transactional else 1)


def item_write_units(size: float, *, copies: int = 0, records: float = 0, transactional: bool = True) -> float:
    """Returns the units of one item in the table with its copies, and the records that are written with it."""
    item = write_units(size, transactional=transactional)
    return item * (1 + copies) + records * write_units(RECORD_BYTES, transactional=transactional)


def index_write_units(size: float, moves: float = 0) -> float:
    """Returns the units of one index entry, which holds the whole item.

    `moves` is the share of writes that change its index key. An entry costs a plain write, even in a transaction; one
    that moves is deleted and written.
    """
    return write_units(size) * (1 + moves)


def _blocks(size: float, block: int) -> int:
    # a request that finds nothing still costs one block
    return max(1, ceil(size / block))
