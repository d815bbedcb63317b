"""Mutations that register, change and remove devices."""

from dataclasses import replace
from typing import Any

from gateway.demo.devices.device import DEVICE
from gateway.graph.mutation.crud import create, now, remove, update
from gateway.graph.mutation.mutation import Mutation
from gateway.model.types import Field, Integer
from gateway.store.write.faults import invalid
from gateway.store.write.upserts import discard
from gateway.store.write.writer import MutationResult, Writer

DEFAULT_RETENTION, MAX_RETENTION = 30, 3_650  # days

_CREATE = create(DEVICE, filled={"registeredAt": now})
_UPDATE = update(DEVICE, but=("registeredAt",))


def _checked(values: dict[str, Any]) -> dict[str, Any]:
    days = values.get("retentionDays")
    if days is not None and not 1 <= days <= MAX_RETENTION:
        raise invalid(f"`retentionDays` must be between 1 and {MAX_RETENTION}", "retentionDays")
    return values


async def register_device(writer: Writer, values: dict[str, Any]) -> MutationResult:
    given = {name: value for name, value in _checked(values).items() if value is not None}
    return await _CREATE.run(writer, {"retentionDays": DEFAULT_RETENTION, **given})


async def update_device(writer: Writer, values: dict[str, Any]) -> MutationResult:
    return await _UPDATE.run(writer, _checked(values))


async def remove_device(writer: Writer, values: dict[str, Any]) -> MutationResult:
    key = {"deviceId": values["deviceId"]}
    device = await writer.stored("Device", key, values.get("version"))
    change = writer.change()
    change.remove(device)
    discard(change, "LatestReading", key)
    return await writer.commit(change, MutationResult(device))


_RETENTION = Field(
    "retentionDays", Integer(), "For how many days its readings are kept; 30 by default.", required=False
)

REGISTERING: tuple[Mutation, ...] = (
    replace(
        _CREATE,
        name="registerDevice",
        description="Register a device.",
        input=(*(each for each in _CREATE.input if each.name != "retentionDays"), _RETENTION),
        run=register_device,
    ),
    replace(
        _UPDATE,
        description="Change a device; a new retention applies to readings recorded from then on.",
        run=update_device,
    ),
    replace(
        remove(DEVICE),
        description="Remove a device and its latest reading; its other readings stay until they expire.",
        run=remove_device,
    ),
)
