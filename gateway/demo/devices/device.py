"""A device, and how long its readings are kept."""

from gateway import (
    Attribute,
    Collection,
    Entity,
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

ENTITIES = (DEVICE,)

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
)
