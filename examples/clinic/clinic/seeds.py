"""Rows of the demo tenants for `gateway dev`."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal

from gateway import SeedRow

_NAMES = ("Curie Marie", "Lovelace Ada", "Hopper Grace")


def rows(tenant: str, now: datetime) -> Iterator[SeedRow]:
    """The same rows at every start; only dates follow the clock."""
    tomorrow = now.date() + timedelta(days=1)
    for number, name in enumerate(_NAMES, 1):
        patient = {"patientId": f"p-{number}"}
        yield "Patient", {**patient, "name": f"{name} ({tenant})", "birthDate": date(1980 + number, 5, 17)}
        yield "Appointment", {**patient, "doctorId": "d-1", "day": tomorrow, "time": f"{8 + number:02}:00"}
        price = {"amount": Decimal(40 * number), "currency": "EUR"}
        line = {"text": "Consultation", "quantity": 1, "price": price}
        yield "Invoice", {**patient, "invoiceId": f"i-{number}", "lines": [line], "total": price}
