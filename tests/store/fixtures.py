"""A model with every kind of key, index and type, and a session of a tenant with its policies."""

import enum
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from gateway.aws.sts.session import Session
from gateway.aws.sts.tenants import Tenancy
from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.endpoint import AwsTarget
from gateway.iam.dynamodb.key_schemas import KeySchema, TableRegistry
from gateway.iam.dynamodb.permissions import Permissions
from gateway.iam.language.document import parse
from gateway.iam.language.evaluator import PolicySet
from gateway.model.entity import Attribute, Bucket, Collection, Entity, Expiry, Key, OnIndex, Shards
from gateway.model.model import Domain, Model
from gateway.model.patterns import ItemCollection, Listing, Lookup
from gateway.model.tenant import TenantId, tenant_id
from gateway.model.types import (
    Blob,
    Boolean,
    DecimalNumber,
    EnumOf,
    Field,
    Id,
    Integer,
    KeyString,
    ListOf,
    SetOf,
    Struct,
    Text,
    Timestamp,
)

ACME, GLOBEX = tenant_id("acme"), tenant_id("globex")
TABLE = "app"
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class Colour(enum.Enum):
    RED = "like a rose"
    BLUE = "like the sea"


SIZE = Struct(
    "Size",
    (
        Field("width", DecimalNumber(), "How wide."),
        Field("unit", EnumOf(Colour), "How coloured.", required=False),
        Field("marks", ListOf(Struct("Mark", (Field("at", Timestamp(), "When."),))), "When seen.", required=False),
    ),
)

# one attribute of every type, and one place in every kind of partition
THING = Entity(
    name="Thing",
    description="Something of every type.",
    attributes=(
        Attribute("thingId", Id(), "Its id."),
        Attribute("kind", Id(), "Its kind."),
        Attribute("at", Timestamp(), "When it was seen."),
        Attribute("rank", Integer(), "Where it stands.", required=False),
        Attribute("weight", DecimalNumber(), "How heavy it is.", required=False),
        Attribute("colour", EnumOf(Colour), "Its colour.", required=False),
        Attribute("open", Boolean(), "Whether it is open.", required=False),
        Attribute("words", SetOf(Text(100)), "Words.", required=False),
        Attribute("numbers", SetOf(DecimalNumber()), "Numbers.", required=False),
        Attribute("size", SIZE, "Its size.", required=False),
        Attribute("seal", Blob(), "Bytes.", required=False),
        Attribute("text", Text(100_000), "Large text.", required=False, compressed=True),
        Attribute("image", Blob(), "Large bytes.", required=False, compressed=True),
    ),
    key=Key(pk="THING#{thingId}", sk="DETAILS"),
    indexes=(
        OnIndex(index="GSI1", pk="KIND#{kind}#{shard}", sk="{at}#{thingId}", shards=Shards(3, by="thingId")),
        OnIndex(index="GSI2", pk="KIND#{kind}", sk="RANK#{rank:5}#{thingId}"),
    ),
    relations=(Collection(name="tags", pattern="tagsOfThing", description="Its tags, last first."),),
)
TAG = Entity(
    name="Tag",
    description="A word on a thing.",
    attributes=(
        Attribute("thingId", Id(), "The thing."),
        Attribute("word", KeyString(), "The word."),
        Attribute("until", Timestamp(), "When it fades.", required=False),
    ),
    key=Key(pk="THING#{thingId}", sk="AT#{word}"),
    expiry=Expiry(at="until"),
)
READING = Entity(
    name="Reading",
    description="What a device measured.",
    attributes=(
        Attribute("device", Id(), "The device."),
        Attribute("at", Timestamp(), "When."),
        Attribute("value", DecimalNumber(), "What."),
    ),
    key=Key(pk="DEVICE#{device}#{bucket}#{shard}", sk="{at}", bucket=Bucket("at", "hour"), shards=Shards(2, by="at")),
    indexes=(
        OnIndex(
            index="GSI3",
            pk="DAY#{bucket}",
            sk="AT#{at}#{device}",
            bucket=Bucket("at", "day"),
            low_cardinality_reason="a tenant has few devices",
        ),
    ),
    expiry=Expiry(since="at", after=timedelta(days=30)),
)
MODEL = Model(
    domains=(
        Domain(
            name="things",
            description="Things, their tags, and readings.",
            entities=(THING, TAG, READING),
            patterns=(
                Lookup(name="thing", many="things", entity="Thing", description="By id."),
                Lookup(name="freshThing", entity="Thing", description="By id, as it is now.", strong=True),
                Lookup(name="tag", entity="Tag", description="By thing and word."),
                ItemCollection(name="thingWithTags", entity="Thing", collection="tags", description="Both."),
                Listing(name="tagsOfThing", entity="Tag", description="Tags.", newest_first=True, strong=True),
                Listing(name="tagOfThing", entity="Tag", description="One tag.", where=("word",), single=True),
                Listing(
                    name="thingsOfKind",
                    entity="Thing",
                    index="GSI1",
                    between="at",
                    newest_first=True,
                    description="Newest first, from all shards.",
                ),
                Listing(name="thingsByRank", entity="Thing", index="GSI2", between="rank", description="By rank."),
                Listing(name="readings", entity="Reading", between="at", description="Of a device."),
                Listing(
                    name="latestReadings",
                    entity="Reading",
                    index="GSI3",
                    between="at",
                    newest_first=True,
                    description="Of all devices.",
                ),
            ),
        ),
    )
)

_ARN = "arn:aws:dynamodb:eu-west-1:123456789012:table/*"
_POLICY = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Sid": "OwnKeys",
            "Effect": "Allow",
            "Action": ["dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query"],
            "Resource": _ARN,
            "Condition": {
                "ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["TENANT#${aws:PrincipalTag/TenantId}#*"]},
                "Null": {"dynamodb:LeadingKeys": "false"},
            },
        }
    ],
}
_POLICIES = PolicySet((parse(_POLICY, "identity"),))


def permissions(tenant: TenantId, table: str = TABLE) -> Permissions:
    keys = KeySchema(MODEL.table.pk, {index.name: (index.pk,) for index in MODEL.table.indexes})
    place = TableRegistry("eu-west-1", "123456789012", tables={table: keys})
    return Permissions(_POLICIES, {"aws:PrincipalTag/TenantId": tenant}, place)


def tenancy(url: str = "http://127.0.0.1:8000", table: str = TABLE) -> Tenancy:
    return Tenancy(table, "arn:aws:iam::123456789012:role/gateway-tenant", AwsTarget(url, "eu-west-1"), "eu-west-1")


def session(tenant: TenantId = ACME, access_key: str = "AKIDEXAMPLE") -> Session:
    return Session(tenant, "viewer", Credentials(access_key, "secret"), tenancy(), permissions(tenant))


def renamed(session: Session, access_key: str) -> Session:
    return replace(session, credentials=Credentials(access_key, "secret"))


async def no_renewal(refused: Session) -> Session:
    """For a table whose sessions never expire."""
    raise AssertionError("nothing expires here")
