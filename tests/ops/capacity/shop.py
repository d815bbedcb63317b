"""A small model with every kind of place, so that figures can be worked out by hand."""

import enum

from gateway.model.entity import Attribute, Bucket, Copy, Entity, Key, OnIndex, Reference, Shards, When
from gateway.model.model import Domain, Model
from gateway.model.patterns import Listing, Lookup, Traffic
from gateway.model.types import Boolean, EnumOf, Id, KeyString, Timestamp


class Status(enum.Enum):
    NEW = "just placed"
    PAID = "paid"
    SENT = "on its way"
    DONE = "arrived"


ORDER = Entity(
    name="Order",
    description="An order.",
    attributes=(
        Attribute("orderId", Id(), "Its id."),
        Attribute("userId", Id(), "Whose it is."),
        Attribute("status", EnumOf(Status), "Where it stands."),
        Attribute("gift", Boolean(), "Whether it is a gift."),
        Attribute("placedAt", Timestamp(), "When."),
    ),
    key=Key(pk="ORDER#{orderId}", sk="META"),
    copies=(Copy(name="byUser", pk="USER#{userId}", sk="ORDER#{placedAt}#{orderId}"),),
    indexes=(
        OnIndex(index="GSI1", pk="STATUS#{status}#{shard}", sk="{placedAt}#{orderId}", shards=Shards(4, by="orderId")),
        OnIndex(
            index="GSI2",
            name="open",
            pk="OPEN",
            sk="{placedAt}#{orderId}",
            when=When("status", ("NEW",)),
            low_cardinality_reason="only what waits",
        ),
        OnIndex(
            index="GSI2",
            name="sent",
            pk="SENT",
            sk="{placedAt}#{orderId}",
            when=When("status", ("SENT", "PAID")),
            low_cardinality_reason="only what is on its way",
        ),
        OnIndex(
            index="GSI3",
            name="gifts",
            pk="GIFTS#{gift}",
            sk="{placedAt}#{orderId}",
            when=When("gift", ("true",)),
            low_cardinality_reason="few give",
        ),
    ),
)
EMAIL = Entity(
    name="Email",
    description="An address.",
    attributes=(Attribute("userId", Id(), "Whose."), Attribute("email", KeyString(), "The address.")),
    key=Key(pk="USER#{userId}", sk="EMAIL#{email}"),
    indexes=(OnIndex(index="GSI3", pk="EMAIL#{email}", sk="USER#{userId}"),),
    relations=(Reference(name="order", pattern="lastOrder", bind={"orderId": "userId"}, description="Made up."),),
    unique=("email",),
)
READING = Entity(
    name="Reading",
    description="A measurement.",
    attributes=(Attribute("device", Id(), "Which."), Attribute("at", Timestamp(), "When.")),
    key=Key(pk="DEVICE#{device}#{bucket}", sk="{at}", bucket=Bucket("at", "hour")),
)
MODEL = Model(
    domains=(
        Domain(
            name="shop",
            description="A shop.",
            entities=(ORDER, EMAIL, READING),
            patterns=(
                Lookup(name="order", entity="Order", description="By id.", traffic=Traffic(2_000, 1, 3 * 1_024)),
                Lookup(
                    name="lastOrder", entity="Order", description="Now.", strong=True, traffic=Traffic(10, 1, 5_000)
                ),
                Listing(
                    name="ordersByStatus",
                    entity="Order",
                    index="GSI1",
                    description="By status.",
                    traffic=Traffic(10, 20, 600),
                ),
                Listing(
                    name="openOrders", entity="Order", index="open", description="Open.", traffic=Traffic(1, 20, 600)
                ),
                Listing(
                    name="userByEmail",
                    entity="Email",
                    index="GSI3",
                    single=True,
                    follow="order",
                    description="By address.",
                    traffic=Traffic(20, 1, 300),
                ),
                Listing(
                    name="readings",
                    entity="Reading",
                    between="at",
                    description="Of a device.",
                    traffic=Traffic(5, 48, 200),
                ),
            ),
        ),
    ),
)
