"""Typed items of the domains; written by `gateway records`, do not edit."""

# ruff: noqa: E501, N815, RUF100
from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from gateway import Record

if TYPE_CHECKING:
    from datetime import date, datetime
    from decimal import Decimal

    from clinic.appointment import AppointmentStatus
    from clinic.invoice import InvoiceStatus


class Money(TypedDict):
    """An amount of money."""

    amount: Decimal
    currency: str


class InvoiceLine(TypedDict):
    """One line of an invoice."""

    text: str
    quantity: int
    price: Money


class File(TypedDict):
    """The metadata of a file; its download field returns an address."""

    uploadId: str
    size: int
    contentType: str
    sha256: str


class Patient(Record):
    """A person whom the clinic treats."""

    patientId: str
    name: str
    birthDate: date
    email: str | None


class Appointment(Record):
    """Half an hour of a doctor's day, booked for a patient."""

    doctorId: str
    day: date
    time: str
    patientId: str
    status: AppointmentStatus
    reason: str | None


class Invoice(Record):
    """What a patient has to pay."""

    patientId: str
    invoiceId: str
    issuedOn: date
    status: InvoiceStatus
    lines: list[InvoiceLine]
    total: Money


class Document(Record):
    """A letter, a report or a picture of a patient."""

    patientId: str
    documentId: str
    title: str
    addedAt: datetime
    content: File | None
