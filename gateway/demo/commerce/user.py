"""A user of a tenant's shop."""

from gateway.demo.commerce.account import RELATIONS_OF_USER
from gateway.model.entity import Attribute, Collection, Entity, Key
from gateway.model.patterns import ItemCollection, Lookup, Traffic
from gateway.model.types import Field, Id, KeyString, Struct, Text, Timestamp

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

ENTITIES = (
    Entity(
        name="User",
        description="A customer of the tenant's shop.",
        attributes=(
            Attribute("userId", Id(), "The user's id, unique in the tenant."),
            Attribute("name", Text(200), "Full name.", personal=True),
            Attribute("email", KeyString(), "Main e-mail address.", personal=True),
            Attribute("phone", KeyString(), "Main phone number.", required=False, personal=True),
            Attribute("address", ADDRESS, "Postal address.", required=False, personal=True),
            Attribute("createdAt", Timestamp(), "When the user signed up."),
        ),
        key=Key(pk="USER#{userId}", sk="PROFILE"),
        relations=(
            Collection(name="orders", pattern="ordersOfUser", description="Orders of the user, newest first."),
            Collection(name="emails", pattern="emailsOfUser", description="All e-mail addresses of the user."),
            Collection(name="phones", pattern="phonesOfUser", description="All phone numbers of the user."),
            *RELATIONS_OF_USER,
        ),
    ),
)

PATTERNS = (
    Lookup(
        name="user",
        many="users",
        entity="User",
        description="One user by id, or many at once.",
        traffic=Traffic(per_second=200, item_bytes=600),
    ),
    ItemCollection(
        name="userWithOrders",
        entity="User",
        collection="orders",
        description="A user and the newest orders in one Query.",
        traffic=Traffic(per_second=100, items=11, item_bytes=600),
    ),
)
