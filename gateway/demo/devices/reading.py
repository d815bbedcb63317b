"""Readings of devices: a partition for each device and hour, and the latest reading next to the device.

The latest reading is a separate item that is written with the reading. As part of the device, it would give the
device a new version with every reading, so editors of the device would get conflicts, and its index entry would move
each time. An index over all readings would write each of them twice, into one partition for each device, which the
hours avoid. So reading the latest value of a device takes one read, whenever it was measured.
"""

from datetime import timedelta

from gateway import (
    Attribute,
    Bucket,
    DecimalNumber,
    Entity,
    Expiry,
    Id,
    Key,
    Listing,
    Lookup,
    Reference,
    Text,
    Timestamp,
    Traffic,
)

_MEASURED = (
    Attribute("deviceId", Id(), "The device."),
    Attribute("recordedAt", Timestamp(), "When it was recorded."),
    Attribute("value", DecimalNumber(), "The measured value."),
    Attribute("unit", Text(20), "The unit of the value.", required=False),
    Attribute("expiresAt", Timestamp(), "When it is deleted, by the retention of its device at the time of recording."),
)
_DEVICE = Reference(name="device", pattern="device", description="The device.")

READING = Entity(
    name="Reading",
    description="A value that a device measured. Device and time identify it, so that sending it twice stores it once.",
    attributes=_MEASURED,
    key=Key(pk="DEVICE#{deviceId}#{bucket}", sk="{recordedAt}", bucket=Bucket("recordedAt", "hour")),
    relations=(_DEVICE,),
    expiry=Expiry(at="expiresAt"),
    batched=True,  # devices send many at once by `recordReadings`
)
LATEST = Entity(
    name="LatestReading",
    description="The newest reading of a device; a reading that arrives late does not replace it.",
    attributes=_MEASURED,
    key=Key(pk="DEVICE#{deviceId}", sk="LATEST"),
    relations=(_DEVICE,),
    expiry=Expiry(at="expiresAt"),
)

ENTITIES = (READING, LATEST)

PATTERNS = (
    Lookup(name="reading", entity="Reading", description="One reading of a device.", traffic=Traffic(1, 1, 200)),
    Listing(
        name="readings",
        entity="Reading",
        between="recordedAt",
        window=timedelta(hours=24),
        newest_first=True,
        reversible=True,
        description="Readings of a device, newest first: in a range of time, or of the last hours, 24 by default.",
        traffic=Traffic(20, 60, 200),
    ),
    Lookup(
        name="latestReading",
        entity="LatestReading",
        strong=True,
        description="The newest reading of a device.",
        traffic=Traffic(100, 1, 200),
    ),
)
