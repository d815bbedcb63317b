"""The tenant: its id, and the one function that writes its prefix into a partition key."""

import re
from typing import NewType

from gateway.errors import BadUserInput

TenantId = NewType("TenantId", str)

_TENANT_ID = re.compile(r"[a-z0-9][a-z0-9-]{1,62}")


def tenant_id(text: object) -> TenantId:
    """The value as a tenant id; raises `BadUserInput` for anything else."""
    # INVARIANT: no '#', '*', '?' or '$', so an id is safe inside a key, an IAM pattern and a session tag.
    if not isinstance(text, str) or not _TENANT_ID.fullmatch(text):
        raise BadUserInput("a tenant id is 2 to 63 characters of a-z, 0-9 and -, and starts with a letter or digit")
    return TenantId(text)


def partition(tenant: TenantId, path: str) -> str:
    """A partition key of this tenant."""
    # INVARIANT: every partition key, of the table and of every index, is written here and nowhere else.
    return f"TENANT#{tenant}#{path}"


def owns(tenant: TenantId, partition_key: str) -> bool:
    return partition_key.startswith(partition(tenant, ""))


def tenant_of(partition_key: str) -> TenantId | None:
    """The tenant that owns the partition, or None; for tasks that work on the whole table."""
    parts = partition_key.split("#", 2)
    if len(parts) < 3 or not _TENANT_ID.fullmatch(parts[1]):
        return None
    tenant = TenantId(parts[1])
    return tenant if owns(tenant, partition_key) else None


SYSTEM = "SYSTEM#"
"""Starts the partitions of rows that belong to no tenant; no policy of a tenant reaches them."""
LEASE_PARTITION = f"{SYSTEM}STREAM"
"""The partition in which the stream readers keep their leases."""

MAX_PREFIX = len(partition(TenantId("x" * 63), ""))
