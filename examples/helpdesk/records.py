"""Typed items of the domains; written by `gateway records`, do not edit."""

# ruff: noqa: E501, N815, RUF100
from __future__ import annotations

from typing import TYPE_CHECKING

from gateway import Record

if TYPE_CHECKING:
    from datetime import datetime

    from helpdesk.ticket import Priority


class Ticket(Record):
    """A request for help."""

    ticketId: str
    subject: str
    requester: str
    priority: Priority
    open: bool
    openedAt: datetime
    staffId: str | None


class Staff(Record):
    """A person who answers tickets."""

    staffId: str
    displayName: str
    department: str
