"""Users of a shop, their e-mail addresses and phone numbers, each of which finds its user, and their accounts."""

from datetime import timedelta

from gateway import (
    Attribute,
    Boolean,
    Collection,
    Email,
    Entity,
    Expiry,
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
    crud,
    new_id,
    now,
    whole_list,
)

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
_MINE = {"userId": Subject()}  # callers who name no user get their own
_USER = Reference(name="user", pattern="user", description="The user it belongs to.")

USER = Entity(
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
        Collection(name="sessions", pattern="sessionsOfUser", description="Sessions of the user, newest first."),
        Collection(
            name="notifications", pattern="notificationsOfUser", description="Notifications of the user, newest first."
        ),
        Collection(name="subscriptions", pattern="subscriptionsOfUser", description="Subscriptions of the user."),
    ),
)

EMAIL = Entity(
    name="Email",
    description="An e-mail address of a user, unique in the tenant.",
    attributes=(_USER_ID, Attribute("email", Email(), "The address.", personal=True), _VERIFIED, _ADDED_AT),
    key=Key(pk="USER#{userId}", sk="EMAIL#{email}"),
    owner="userId",
    indexes=(OnIndex(index="GSI1", pk="EMAIL#{email}", sk="USER#{userId}"),),
    relations=(_USER,),
    unique=("email",),
)

PHONE = Entity(
    name="Phone",
    description="A phone number of a user, unique in the tenant.",
    attributes=(_USER_ID, Attribute("phone", KeyString(), "The number.", personal=True), _VERIFIED, _ADDED_AT),
    # a sort key of PHONE would sort between the orders and the profile, which one Query reads
    key=Key(pk="USER#{userId}", sk="CONTACT#PHONE#{phone}"),
    owner="userId",
    indexes=(OnIndex(index="GSI1", pk="PHONE#{phone}", sk="USER#{userId}"),),
    relations=(_USER,),
    unique=("phone",),
)

_ACCOUNT_OF = Attribute("userId", Id(), "The user.", immutable=True)
_CREATED_AT = Attribute("createdAt", Timestamp(), "When it was created.")
_ACCOUNT_USER = Reference(name="user", pattern="user", description="The user.", required=True)

SESSION = Entity(
    name="Session",
    description="A session of a signed-in user; once expired it is not returned, even before DynamoDB deletes it.",
    attributes=(
        Attribute("sessionId", Id(), "The session's id, unique in the tenant."),
        _ACCOUNT_OF,
        _CREATED_AT,
        Attribute("expiresAt", Timestamp(), "When it expires."),
        Attribute("device", Text(200), "The device that the user signed in on.", required=False),
    ),
    key=Key(pk="SESSION#{sessionId}", sk="META"),
    owner="userId",
    # anyone who knows the id of a session may act in it
    confidential=True,
    indexes=(OnIndex(index="GSI1", pk="SESSION#OF#{userId}", sk="{createdAt}#{sessionId}"),),
    relations=(_ACCOUNT_USER,),
    expiry=Expiry(at="expiresAt"),
)

NOTIFICATION = Entity(
    name="Notification",
    description="A message to a user, kept for 90 days.",
    attributes=(
        _ACCOUNT_OF,
        _CREATED_AT,
        Attribute("notificationId", Id(), "The notification's id."),
        Attribute("text", Text(2_000), "The text of the message.", personal=True),
        Attribute("read", Boolean(), "Whether the user has seen it."),
    ),
    key=Key(pk="USER#{userId}", sk="NOTIF#{createdAt}#{notificationId}"),
    owner="userId",
    relations=(_ACCOUNT_USER,),
    expiry=Expiry(since="createdAt", after=timedelta(days=90)),
)

SUBSCRIPTION = Entity(
    name="UserSubscription",
    description="A user's subscription to a topic.",
    attributes=(
        _ACCOUNT_OF,
        Attribute("subscriptionId", Id(), "The subscription's id, unique for the user."),
        Attribute("topic", Text(200), "The topic."),
        _CREATED_AT,
    ),
    key=Key(pk="USER#{userId}", sk="SUBSCRIPTION#{subscriptionId}"),
    owner="userId",
    relations=(_ACCOUNT_USER,),
)

ACCOUNT = (
    *crud(SESSION, filled={"sessionId": new_id, "createdAt": now}),
    *crud(NOTIFICATION, filled={"notificationId": new_id, "createdAt": now}),
    *crud(SUBSCRIPTION, filled={"createdAt": now}),
)

ENTITIES = (USER, EMAIL, PHONE, SESSION, NOTIFICATION, SUBSCRIPTION)

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
    Lookup(
        name="session", entity="Session", description="One session by id.", strong=True, traffic=Traffic(200, 1, 300)
    ),
    Listing(
        name="sessionsOfUser",
        defaults=_MINE,
        entity="Session",
        index="GSI1",
        between="createdAt",
        newest_first=True,
        description="Sessions of a user, newest first.",
        traffic=Traffic(5, 3, 300),
    ),
    Lookup(
        name="notification",
        entity="Notification",
        defaults=_MINE,
        description="One notification of a user.",
        traffic=Traffic(1, 1, 400),
    ),
    Lookup(
        name="subscription",
        entity="UserSubscription",
        defaults=_MINE,
        description="One subscription of a user.",
        traffic=Traffic(1, 1, 300),
    ),
    Listing(
        name="notificationsOfUser",
        defaults=_MINE,
        entity="Notification",
        between="createdAt",
        newest_first=True,
        description="Notifications of a user, newest first.",
        traffic=Traffic(50, 20, 400),
    ),
    Listing(
        name="subscriptionsOfUser",
        defaults=_MINE,
        entity="UserSubscription",
        description="Subscriptions of a user.",
        traffic=Traffic(5, 5, 300),
    ),
)
