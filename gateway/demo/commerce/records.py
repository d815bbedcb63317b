"""Typed items of the domains; written by `gateway records`, do not edit."""

# ruff: noqa: E501, N815, RUF100
from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from gateway import Record

if TYPE_CHECKING:
    from datetime import datetime
    from decimal import Decimal

    from gateway.demo.commerce.order import OrderStatus


class Address(TypedDict):
    """A postal address."""

    street: str
    city: str
    postalCode: str
    country: str


class OrderedProduct(TypedDict):
    """One product of an order."""

    productId: str
    title: str
    quantity: int
    unitPrice: Decimal


class User(Record):
    """A customer of the tenant's shop."""

    userId: str
    name: str
    email: str
    phone: str | None
    address: Address | None
    createdAt: datetime


class Email(Record):
    """An e-mail address of a user, unique in the tenant."""

    userId: str
    email: str
    verified: bool
    addedAt: datetime


class Phone(Record):
    """A phone number of a user, unique in the tenant."""

    userId: str
    phone: str
    verified: bool
    addedAt: datetime


class Session(Record):
    """A session of a signed-in user; once expired it is not returned, even before DynamoDB deletes it."""

    sessionId: str
    userId: str
    createdAt: datetime
    expiresAt: datetime
    device: str | None


class Notification(Record):
    """A message to a user, kept for 90 days."""

    userId: str
    createdAt: datetime
    notificationId: str
    text: str
    read: bool


class UserSubscription(Record):
    """A user's subscription to a topic."""

    userId: str
    subscriptionId: str
    topic: str
    createdAt: datetime


class Order(Record):
    """An order placed by a user."""

    orderId: str
    userId: str
    status: OrderStatus
    placedAt: datetime
    total: Decimal
    currency: str
    productIds: list[str]
    items: list[OrderedProduct] | None
    note: str | None


class OrderLine(Record):
    """One product in an order, with its price on the day of the order."""

    orderId: str
    productId: str
    placedAt: datetime
    title: str
    quantity: int
    unitPrice: Decimal


class OrderEvent(Record):
    """One step in the history of an order: its new status, the time, and who changed it."""

    orderId: str
    eventId: str
    at: datetime
    status: OrderStatus
    actor: str


class Product(Record):
    """A product that the tenant sells."""

    productId: str
    title: str
    description: str | None
    price: Decimal
    currency: str
    categoryId: str
    supplierId: str | None
    tags: frozenset[str] | None


class Stock(Record):
    """The stock of a product."""

    productId: str
    available: int
    updatedAt: datetime


class Category(Record):
    """A category of products."""

    categoryId: str
    title: str


class Supplier(Record):
    """A company that supplies products."""

    supplierId: str
    title: str
    contact: str | None
