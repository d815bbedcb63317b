"""A user's account: sessions that expire, notifications and subscriptions."""

from datetime import timedelta

from gateway import (
    Attribute,
    Boolean,
    Collection,
    Entity,
    Expiry,
    Id,
    Key,
    Listing,
    Lookup,
    OnIndex,
    Reference,
    Subject,
    Text,
    Timestamp,
    Traffic,
    crud,
    new_id,
    now,
)

_USER_ID = Attribute("userId", Id(), "The user.", immutable=True)
_CREATED_AT = Attribute("createdAt", Timestamp(), "When it was created.")
_MINE = {"userId": Subject()}  # callers who name no user get their own
_USER = Reference(name="user", pattern="user", description="The user.", required=True)

SESSION = Entity(
    name="Session",
    description="A session of a signed-in user; once expired it is not returned, even before DynamoDB deletes it.",
    attributes=(
        Attribute("sessionId", Id(), "The session's id, unique in the tenant."),
        _USER_ID,
        _CREATED_AT,
        Attribute("expiresAt", Timestamp(), "When it expires."),
        Attribute("device", Text(200), "The device that the user signed in on.", required=False),
    ),
    key=Key(pk="SESSION#{sessionId}", sk="META"),
    owner="userId",
    # anyone who knows the id of a session may act in it
    confidential=True,
    indexes=(OnIndex(index="GSI1", pk="SESSION#OF#{userId}", sk="{createdAt}#{sessionId}"),),
    relations=(_USER,),
    expiry=Expiry(at="expiresAt"),
)
NOTIFICATION = Entity(
    name="Notification",
    description="A message to a user, kept for 90 days.",
    attributes=(
        _USER_ID,
        _CREATED_AT,
        Attribute("notificationId", Id(), "The notification's id."),
        Attribute("text", Text(2_000), "The text of the message.", personal=True),
        Attribute("read", Boolean(), "Whether the user has seen it."),
    ),
    key=Key(pk="USER#{userId}", sk="NOTIF#{createdAt}#{notificationId}"),
    owner="userId",
    relations=(_USER,),
    expiry=Expiry(since="createdAt", after=timedelta(days=90)),
)
SUBSCRIPTION = Entity(
    name="UserSubscription",
    description="A user's subscription to a topic.",
    attributes=(
        _USER_ID,
        Attribute("subscriptionId", Id(), "The subscription's id, unique for the user."),
        Attribute("topic", Text(200), "The topic."),
        _CREATED_AT,
    ),
    key=Key(pk="USER#{userId}", sk="SUBSCRIPTION#{subscriptionId}"),
    owner="userId",
    relations=(_USER,),
)

ENTITIES = (SESSION, NOTIFICATION, SUBSCRIPTION)

PATTERNS = (
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

RELATIONS_OF_USER = (
    Collection(name="sessions", pattern="sessionsOfUser", description="Sessions of the user, newest first."),
    Collection(
        name="notifications", pattern="notificationsOfUser", description="Notifications of the user, newest first."
    ),
    Collection(name="subscriptions", pattern="subscriptionsOfUser", description="Subscriptions of the user."),
)

ACCOUNT = (
    *crud(SESSION, filled={"sessionId": new_id, "createdAt": now}),
    *crud(NOTIFICATION, filled={"notificationId": new_id, "createdAt": now}),
    *crud(SUBSCRIPTION, filled={"createdAt": now}),
)
