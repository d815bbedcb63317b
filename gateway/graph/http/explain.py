"""Builds `extensions.explain`: the DynamoDB calls of an operation, the statements that allowed them, and their cost.

It also lists the domain code that was called.

INVARIANT: it contains shapes of keys and names of statements, never the value of a key or of an item.
"""

import time
from typing import Any

from gateway.iam.dynamodb.condition_keys import ROLE_TAG, SUBJECT_TAG, TENANT_TAG
from gateway.store.access import Access, Call

EXPLAIN = "explain"  # requested by `"extensions": {"explain": true}`


def explanation(access: Access, started: float) -> dict[str, Any]:
    """`started` is the value of `time.perf_counter` when the request arrived."""
    session = access.session
    first = min((call.started for call in access.calls), default=0.0)
    return {
        "tenant": session.tenant,
        "role": session.role,
        "actsAs": list(access.acted_as),
        # the session tags that policy statements compare with keys
        "tags": [TENANT_TAG, ROLE_TAG, *([SUBJECT_TAG] if session.subject is not None else [])],
        "policies": session.permissions.fingerprint,
        "calls": [_call(call, first) for call in access.calls],
        "refused": [{"what": refusal.what, "reason": refusal.reason} for refusal in dict.fromkeys(access.refusals)],
        "code": [
            {"field": code_call.field, "rows": code_call.rows, "durationMs": _milliseconds(code_call.seconds)}
            for code_call in access.code_calls or ()
        ],
        "keys": sum(_keys(call) for call in access.calls),
        "items": sum(call.items for call in access.calls),
        "capacity": access.capacity,
        "durationMs": _milliseconds(time.perf_counter() - started),
    }


def _call(call: Call, first: float) -> dict[str, Any]:
    return {
        "operation": call.operation,
        "index": call.index,
        "source": call.source,
        "stale": call.stale,
        "keys": _keys(call),
        "touched": [
            {"partition": shape.partition, "sort": shape.sort, "keys": shape.keys} for shape in call.key_shapes
        ],
        "items": call.items,
        "capacity": call.capacity,
        # relative to the first call; overlapping calls ran concurrently
        "startMs": _milliseconds(call.started - first),
        "durationMs": _milliseconds(call.seconds),
        "allowedBy": list(call.statements),
    }


def _keys(call: Call) -> int:
    return sum(shape.keys for shape in call.key_shapes)


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1_000, 3)
