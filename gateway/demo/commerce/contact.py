"""E-mail addresses and phone numbers: a user has several, and each finds its user."""

from gateway.model.entity import Attribute, Entity, Key, OnIndex, Reference
from gateway.model.patterns import Listing, Traffic
from gateway.model.types import Boolean, Id, KeyString, Timestamp

_USER_ID = Attribute("userId", Id(), "The user it belongs to.")
_VERIFIED = Attribute("verified", Boolean(), "Whether the user has confirmed it.")
_ADDED_AT = Attribute("addedAt", Timestamp(), "When it was added.")
_USER = Reference(name="user", pattern="user", description="The user it belongs to.")

ENTITIES = (
    Entity(
        name="Email",
        description="An e-mail address of a user, unique in the tenant.",
        attributes=(_USER_ID, Attribute("email", KeyString(), "The address.", personal=True), _VERIFIED, _ADDED_AT),
        key=Key(pk="USER#{userId}", sk="EMAIL#{email}"),
        indexes=(OnIndex(index="GSI1", pk="EMAIL#{email}", sk="USER#{userId}"),),
        relations=(_USER,),
        unique=("email",),
    ),
    Entity(
        name="Phone",
        description="A phone number of a user, unique in the tenant.",
        attributes=(_USER_ID, Attribute("phone", KeyString(), "The number.", personal=True), _VERIFIED, _ADDED_AT),
        # a sort key of PHONE would sort between the orders and the profile, which one Query reads
        key=Key(pk="USER#{userId}", sk="CONTACT#PHONE#{phone}"),
        indexes=(OnIndex(index="GSI1", pk="PHONE#{phone}", sk="USER#{userId}"),),
        relations=(_USER,),
        unique=("phone",),
    ),
)

PATTERNS = (
    Listing(
        name="userByEmail",
        entity="Email",
        index="GSI1",
        single=True,
        follow="user",
        description="The user who owns an e-mail address.",
        traffic=Traffic(per_second=20, items=1, item_bytes=300),
    ),
    Listing(
        name="userByPhone",
        entity="Phone",
        index="GSI1",
        single=True,
        follow="user",
        description="The user who owns a phone number.",
        traffic=Traffic(per_second=2, items=1, item_bytes=300),
    ),
    Listing(name="emailsOfUser", entity="Email", description="E-mail addresses of a user.", traffic=Traffic(5, 2, 300)),
    Listing(name="phonesOfUser", entity="Phone", description="Phone numbers of a user.", traffic=Traffic(5, 1, 300)),
)
