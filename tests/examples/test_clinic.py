"""The clinic began small."""

from pathlib import Path

CLINIC = Path(__file__).parents[2] / "examples" / "clinic"


def test_patients_and_appointments_take_less_than_250_lines() -> None:
    names = ("patient.py", "appointment.py", "booking.py", "domain.py")
    assert sum(len((CLINIC / "clinic" / name).read_text().splitlines()) for name in names) < 250
