"""References in a transaction: ensures that a referenced item exists and is not removed at the same time."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from gateway.model.entity import Entity, Reference
from gateway.model.error_code import UserErrorCode
from gateway.model.keys import item_key
from gateway.model.model import Model
from gateway.model.referrers import bound_names, target_of
from gateway.model.tenant import TenantId
from gateway.model.types import Wire
from gateway.store.wire import key_of
from gateway.store.write.counters import joined_counts
from gateway.store.write.faults import Fault
from gateway.store.write.member import Member

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Target:
    """The item that another item refers to; `bound` are the attributes of the referring item."""

    entity: Entity
    key: Values
    bound: tuple[str, ...]
    counted: bool  # whether its removal depends on its referrers


@dataclass(frozen=True, slots=True)
class RemovalCondition:
    """Removes an item only if no one has begun to refer to it since `references` were counted."""

    attribute: str
    references: int | None

    def add(self, names: dict[str, str], values: Wire) -> str:
        names["#refs"] = self.attribute
        if self.references is None:
            return " AND attribute_not_exists(#refs)"
        values[":refs"] = {"N": str(self.references)}
        return " AND #refs = :refs"


def referred(model: Model, entity: Entity, relation: Reference, values: Values) -> Target | None:
    """Returns the item that is referred to; None if there is no reference."""
    bound = bound_names(model, relation)
    key = {name: values.get(own) for name, own in bound.items()}
    if any(value is None for value in key.values()):
        return None
    target = model.entities[target_of(model, relation)]
    return Target(target, key, tuple(bound.values()), relation.on_remove is not None)


def reference_member(model: Model, tenant: TenantId, target: Target) -> Member:
    """Checks that the item exists; if its removal depends on referrers, also counts the new reference."""
    table, name = model.table, target.entity.name
    named = ", ".join(f"{part} `{value}`" for part, value in target.key.items())
    fault = Fault(UserErrorCode.NOT_FOUND, f"there is no {name} with {named}", target.bound[-1])
    key = item_key(tenant, target.entity, target.key)
    body: Wire = {
        "Key": key_of(table, key),
        "ConditionExpression": "attribute_exists(#pk)",
        "ExpressionAttributeNames": {"#pk": table.pk},
    }
    check = Member("ConditionCheck", key, body, fault, refers=True)
    return counting(check, table.references) if target.counted else check


def counting(check: Member, attribute: str) -> Member:
    """Turns the check into an update that counts one more reference."""
    body = dict(check.body)
    body["UpdateExpression"] = "ADD #refs :one"
    body["ExpressionAttributeNames"] = {**body.get("ExpressionAttributeNames", {}), "#refs": attribute}
    body["ExpressionAttributeValues"] = {**body.get("ExpressionAttributeValues", {}), ":one": {"N": "1"}}
    return replace(check, kind="Update", body=body)


def joined_members(known: Member, new: Member) -> Member | None:
    """Joins two members on the same item, one of which only ensures that it exists."""
    if known.counts is not None and new.counts is not None:
        return joined_counts(known, new)
    if not known.refers and not new.refers:
        return None
    other, reference = (new, known) if known.refers else (known, new)
    if other.kind == "Delete":
        return None
    if reference.kind == "ConditionCheck" or other.kind in ("Put", "Update"):
        # the item exists after this write, and gets a new version, which a removal checks
        return other
    return counting(other, reference.body["ExpressionAttributeNames"]["#refs"])
