"""A user of a tenant's shop, and its e-mail addresses and phone numbers, each of which finds its user."""

from gateway import (
    Attribute,
    Boolean,
    Collection,
    Email,
    Entity,
    Field,
    Id,
    ItemCollection,
    Key,
    KeyString,
    Listing,
    Lookup,
    OnIndex,
    Reference,
    Struct,
    Subject,
    Text,
    Timestamp,
    Traffic,
    whole_list,
)
from gateway.demo.commerce.account import RELATIONS_OF_USER

ADDRESS = Struct(
    "Address",
    (
        Field("street", Text(200), "Street and number."),
        Field("city", Text(100), "City or town."),
        Field("postalCode", Text(20), "Postal code."),
        Field("country", Text(2), "The country, as an ISO 3166-1 alpha-2 code."),
    ),
    "A postal address.",
)

_USER_ID = Attribute("userId", Id(), "The user it belongs to.")
_VERIFIED = Attribute("verified", Boolean(), "Whether the user has confirmed it.")
_ADDED_AT = Attribute("addedAt", Timestamp(), "When it was added.")
_MINE = {"userId": Subject()}
_USER = Reference(name="user", pattern="user", description="The user it belongs to.")

ENTITIES = (
    Entity(
        name="User",
        description="A customer of the tenant's shop.",
        attributes=(
            Attribute("userId", Id(), "The user's id, unique in the tenant."),
            Attribute("name", Text(200), "Full name.", personal=True),
            Attribute("email", Email(), "Main e-mail address.", personal=True),
            Attribute("phone", KeyString(), "Main phone number.", required=False, personal=True),
            Attribute("address", ADDRESS, "Postal address.", required=False, personal=True),
            Attribute("createdAt", Timestamp(), "When the user signed up."),
        ),
        key=Key(pk="USER#{userId}", sk="PROFILE"),
        indexes=(whole_list("GSI2", "USERS", sort="{createdAt}", by="userId"),),
        owner="userId",
        relations=(
            Collection(name="orders", pattern="ordersOfUser", description="Orders of the user, newest first."),
            Collection(name="emails", pattern="emailsOfUser", description="All e-mail addresses of the user."),
            Collection(name="phones", pattern="phonesOfUser", description="All phone numbers of the user."),
            *RELATIONS_OF_USER,
        ),
    ),
    Entity(
        name="Email",
        description="An e-mail address of a user, unique in the tenant.",
        attributes=(_USER_ID, Attribute("email", Email(), "The address.", personal=True), _VERIFIED, _ADDED_AT),
        key=Key(pk="USER#{userId}", sk="EMAIL#{email}"),
        owner="userId",
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
        owner="userId",
        indexes=(OnIndex(index="GSI1", pk="PHONE#{phone}", sk="USER#{userId}"),),
        relations=(_USER,),
        unique=("phone",),
    ),
)

PATTERNS = (
    Lookup(
        name="user",
        many="users",
        subject="me",
        entity="User",
        description="One user by id, or many at once.",
        consistent=True,
        traffic=Traffic(per_second=200, item_bytes=600),
    ),
    Listing(
        name="allUsers",
        entity="User",
        index="all",
        between="createdAt",
        newest_first=True,
        reversible=True,
        filter=("name", "email"),
        description="All users, those who signed up last first.",
        traffic=Traffic(per_second=1, items=25, item_bytes=600),
    ),
    ItemCollection(
        name="userWithOrders",
        entity="User",
        collection="orders",
        description="A user and the newest orders in one Query.",
        traffic=Traffic(per_second=100, items=11, item_bytes=600),
    ),
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
    Lookup(
        name="email",
        entity="Email",
        defaults=_MINE,
        description="One e-mail address of a user.",
        traffic=Traffic(1, 1, 300),
    ),
    Lookup(
        name="phone",
        entity="Phone",
        defaults=_MINE,
        description="One phone number of a user.",
        traffic=Traffic(1, 1, 300),
    ),
    Listing(
        name="emailsOfUser",
        entity="Email",
        defaults=_MINE,
        description="E-mail addresses of a user.",
        traffic=Traffic(5, 2, 300),
    ),
    Listing(
        name="phonesOfUser",
        entity="Phone",
        defaults=_MINE,
        description="Phone numbers of a user.",
        traffic=Traffic(5, 1, 300),
    ),
)
