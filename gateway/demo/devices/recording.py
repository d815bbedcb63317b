"""Mutations that register devices, and that record readings, each with the expiry that its device declares."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from gateway import (
    DecimalNumber,
    Field,
    Id,
    Integer,
    Item,
    ListOf,
    Mutation,
    MutationResult,
    Struct,
    Text,
    Timestamp,
    Writer,
    crud,
    invalid,
    now,
    upserts,
)
from gateway.demo.devices.device import DEVICE

MAX_READINGS = 500  # of one bulk: 20 batches
_AHEAD = timedelta(minutes=15)  # how far the clock of a device may be ahead of ours

_DEVICE_ID = Field("deviceId", Id(), "The device.")
_MEASURED = (
    Field("recordedAt", Timestamp(), "When it was recorded; with the device, it identifies the reading."),
    Field("value", DecimalNumber(), "The measured value."),
    Field("unit", Text(20), "The unit of the value.", required=False),
)
_NEW_READING = Struct("NewReading", _MEASURED, "A value that a device measured.")


def _reading(device: Item, values: dict[str, Any], today: datetime, field: str) -> dict[str, Any]:
    days, recorded = device["retentionDays"], values["recordedAt"]
    if recorded > today + _AHEAD:
        raise invalid(f"`recordedAt` is in the future: `{recorded.isoformat()}`", field)
    expires = recorded + timedelta(days=days)
    if expires <= today:
        raise invalid(
            f"`recordedAt` is older than the {days} days for which readings are kept: `{recorded.isoformat()}`", field
        )
    attributes = {name: value for name, value in values.items() if value is not None}
    return {**attributes, "deviceId": device["deviceId"], "expiresAt": expires}


async def record_reading(writer: Writer, values: dict[str, Any]) -> MutationResult:
    device = await writer.stored("Device", {"deviceId": values["deviceId"]})
    reading = _reading(device, values, now(), "recordedAt")
    change = writer.change()
    item = upserts.replace(change, "Reading", reading)
    upserts.newest(change, "LatestReading", reading, by="recordedAt")
    return await writer.commit(change, MutationResult(item))


async def record_readings(writer: Writer, values: dict[str, Any]) -> MutationResult:
    """Not one transaction, which has at most 100 items: after an error the caller sends all of them again."""
    inputs = values["readings"]
    if not 1 <= len(inputs) <= MAX_READINGS:
        raise invalid(f"send 1 to {MAX_READINGS} readings at once", "readings")
    device = await writer.stored("Device", {"deviceId": values["deviceId"]})
    today = now()
    readings = [_reading(device, row, today, "readings") for row in inputs]
    written = await writer.put_all("Reading", readings)
    change = writer.change()
    upserts.newest(change, "LatestReading", max(readings, key=lambda reading: reading["recordedAt"]), by="recordedAt")
    return await writer.commit(change, MutationResult(device, {"written": written}))


RECORDING = (
    Mutation(
        name="recordReading",
        description="Record a reading; it replaces an earlier reading of the same device and time.",
        returns="Reading",
        input=(_DEVICE_ID, *_MEASURED),
        run=record_reading,
    ),
    Mutation(
        name="recordReadings",
        description=f"Record up to {MAX_READINGS} readings of a device; after an error, send all of them again.",
        returns="Device",
        input=(_DEVICE_ID, Field("readings", ListOf(_NEW_READING, max_items=MAX_READINGS), "The readings.")),
        extras=(Field("written", Integer(), "The number of distinct readings written."),),
        run=record_readings,
        member_units=1,
    ),
)

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
