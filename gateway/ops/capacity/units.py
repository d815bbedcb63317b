"""What planning counts in: the capacity units of the model's formulas, and what one partition takes of them."""

from typing import Final

from gateway.model.capacity_units import query_units, read_units, write_units

__all__ = ["PARTITION_READS", "PARTITION_WRITES", "query_units", "read_units", "write_units"]

PARTITION_READS: Final = 3_000
PARTITION_WRITES: Final = 1_000
"""What one partition takes each second, in capacity units, whatever the table has."""
