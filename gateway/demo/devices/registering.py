"""Mutations that register, change and remove devices."""

from dataclasses import replace
from typing import Any

from gateway import Mutation, MutationResult, Writer, crud, now, upserts
from gateway.demo.devices.device import DEVICE

_CREATE, _UPDATE, _REMOVE = crud(DEVICE, filled={"registeredAt": now})


async def remove_device(writer: Writer, values: dict[str, Any]) -> MutationResult:
    key = {"deviceId": values["deviceId"]}
    device = await writer.stored("Device", key, values.get("version"))
    change = writer.change()
    change.remove(device)
    upserts.discard(change, "LatestReading", key)
    return await writer.commit(change, MutationResult(device))


REGISTERING: tuple[Mutation, ...] = (
    replace(_CREATE, name="registerDevice", description="Register a device."),
    replace(_UPDATE, description="Change a device; a new retention applies to readings recorded from then on."),
    replace(
        _REMOVE,
        description="Remove a device and its latest reading; its other readings stay until they expire.",
        run=remove_device,
    ),
)
