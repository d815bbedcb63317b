"""What belongs to a user besides orders: sessions that expire, notifications, subscriptions."""

from datetime import timedelta

from gateway.graph.mutation.crud import crud, new_id, now
from gateway.model.entity import Attribute, Collection, Entity, Expiry, Key, OnIndex, Reference
from gateway.model.patterns import Listing, Lookup, Traffic
from gateway.model.types import Boolean, Id, Text, Timestamp

_USER_ID = Attribute("userId", Id(), "The user.")
_CREATED_AT = Attribute("createdAt", Timestamp(), "When it was made.")
_USER = Reference(name="user", pattern="user", description="The user.")

SESSION = Entity(
    name="Session",
    description="A signed-in session of a user; it is gone when it expires, even before DynamoDB deletes it.",
    attributes=(
        Attribute("sessionId", Id(), "The session's id, unique in the tenant."),
        _USER_ID,
        _CREATED_AT,
        Attribute("expiresAt", Timestamp(), "When it ends."),
        Attribute("device", Text(200), "Where the user signed in.", required=False),
    ),
    key=Key(pk="SESSION#{sessionId}", sk="META"),
    indexes=(OnIndex(index="GSI1", pk="USER#{userId}", sk="SESSION#{createdAt}#{sessionId}"),),
    relations=(_USER,),
    expiry=Expiry(at="expiresAt"),
)
NOTIFICATION = Entity(
    name="Notification",
    description="Something a user should know; kept for 90 days.",
    attributes=(
        _USER_ID,
        _CREATED_AT,
        Attribute("notificationId", Id(), "The notification's id."),
        Attribute("text", Text(2_000), "What it says.", personal=True),
        Attribute("read", Boolean(), "Whether the user has seen it."),
    ),
    key=Key(pk="USER#{userId}", sk="NOTIF#{createdAt}#{notificationId}"),
    relations=(_USER,),
    expiry=Expiry(since="createdAt", after=timedelta(days=90)),
)
SUBSCRIPTION = Entity(
    name="UserSubscription",
    description="Something a user has subscribed to.",
    attributes=(
        _USER_ID,
        Attribute("subscriptionId", Id(), "The subscription's id, unique for the user."),
        Attribute("topic", Text(200), "What it is about."),
        _CREATED_AT,
    ),
    key=Key(pk="USER#{userId}", sk="SUBSCRIPTION#{subscriptionId}"),
    relations=(_USER,),
)

ENTITIES = (SESSION, NOTIFICATION, SUBSCRIPTION)

PATTERNS = (
    Lookup(
        name="session", entity="Session", description="One session by id.", strong=True, traffic=Traffic(200, 1, 300)
    ),
    Listing(
        name="sessionsOfUser",
        entity="Session",
        index="GSI1",
        between="createdAt",
        newest_first=True,
        description="Sessions of a user, newest first.",
        traffic=Traffic(5, 3, 300),
    ),
    Listing(
        name="notificationsOfUser",
        entity="Notification",
        between="createdAt",
        newest_first=True,
        description="Notifications of a user, newest first.",
        traffic=Traffic(50, 20, 400),
    ),
    Listing(
        name="subscriptionsOfUser",
        entity="UserSubscription",
        description="Subscriptions of a user.",
        traffic=Traffic(5, 5, 300),
    ),
)

RELATIONS_OF_USER = (
    Collection(name="sessions", pattern="sessionsOfUser", description="Where the user is signed in, newest first."),
    Collection(name="notifications", pattern="notificationsOfUser", description="What the user should know."),
    Collection(name="subscriptions", pattern="subscriptionsOfUser", description="What the user has subscribed to."),
)

ACCOUNT = (
    *crud(SESSION, filled={"sessionId": new_id, "createdAt": now}),
    *crud(NOTIFICATION, filled={"notificationId": new_id, "createdAt": now}),
    *crud(SUBSCRIPTION, filled={"createdAt": now}),
)
