"""Typed items of the domains; written by `gateway records`, do not edit."""

# ruff: noqa: E501, N815, RUF100
from __future__ import annotations

from typing import TYPE_CHECKING

from gateway import Record

if TYPE_CHECKING:
    from datetime import datetime
    from decimal import Decimal


class Device(Record):
    """A device that records readings."""

    deviceId: str
    title: str
    location: str | None
    retentionDays: int
    registeredAt: datetime


class Reading(Record):
    """A value that a device measured. Device and time identify it, so that sending it twice stores it once."""

    deviceId: str
    recordedAt: datetime
    value: Decimal
    unit: str | None
    expiresAt: datetime


class LatestReading(Record):
    """The newest reading of a device; a reading that arrives late does not replace it."""

    deviceId: str
    recordedAt: datetime
    value: Decimal
    unit: str | None
    expiresAt: datetime
