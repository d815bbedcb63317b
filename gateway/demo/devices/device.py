"""Devices and their readings: a partition for each device and hour, and the latest reading next to the device.

The latest reading is a separate item that is written with the reading. As part of the device, it would give the
device a new version with every reading, so editors of the device would get conflicts, and its index entry would move
each time. An index over all readings would write each of them twice, into one partition for each device, which the
hours avoid. So reading the latest value of a device takes one read, whenever it was measured.
"""

from datetime import timedelta

from gateway import (
    Attribute,
    Bucket,
    Collection,
    DecimalNumber,
    Entity,
    Expiry,
    Id,
    Integer,
    Key,
    Listing,
    Lookup,
    OnIndex,
    Reference,
    Shards,
    Text,
    Timestamp,
    Traffic,
)

DEVICE = Entity(
    name="Device",
    description="A device that records readings.",
    attributes=(
        Attribute("deviceId", Id(), "The device's id, unique in the tenant."),
        Attribute("title", Text(200), "The name of the device."),
        Attribute("location", Text(200), "The location of the device.", required=False),
        Attribute(
            "retentionDays",
            Integer(min=1, max=3_650),
            "For how many days its readings are kept.",
            default=30,
        ),
        Attribute("registeredAt", Timestamp(), "When it was registered."),
    ),
    key=Key(pk="DEVICE#{deviceId}", sk="DETAILS"),
    indexes=(
        OnIndex(index="GSI2", pk="DEVICES#{shard}", sk="{registeredAt}#{deviceId}", shards=Shards(4, by="deviceId")),
    ),
    relations=(
        Reference(name="latest", pattern="latestReading", description="The newest reading."),
        Collection(name="readings", pattern="readings", description="Readings of the device, newest first."),
    ),
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

ENTITIES = (DEVICE, READING, LATEST)

PATTERNS = (
    Lookup(
        name="device",
        many="devices",
        entity="Device",
        description="One device by id, or many at once.",
        traffic=Traffic(50, 1, 300),
    ),
    Listing(
        name="allDevices",
        entity="Device",
        index="GSI2",
        between="registeredAt",
        newest_first=True,
        description="All devices of the tenant, newest first; read from all shards in parallel.",
        traffic=Traffic(5, 25, 300),
    ),
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
