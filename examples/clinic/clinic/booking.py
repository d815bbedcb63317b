"""Slots are booked by a mutation with a code of its own; a custom query answers which are free."""

from datetime import date
from typing import Any

from gateway import (
    CallerReader,
    CustomQuery,
    Date,
    ErrorCode,
    Fault,
    Field,
    Id,
    ListOf,
    Mutation,
    MutationResult,
    Range,
    Text,
    Writer,
    invalid,
    now,
)

from clinic.appointment import TIME

TIMES = [f"{hour:02}:{minute}" for hour in range(8, 17) for minute in ("00", "30")]
SLOT_TAKEN = ErrorCode("SLOT_TAKEN", "the doctor has another patient at that time")
DOCTOR_ID = Field("doctorId", Id(), "The doctor.")
DAY = Field("day", Date(), "The day.")


def is_over(day: date) -> bool:
    return day < now().date()


async def book(writer: Writer, values: dict[str, Any]) -> MutationResult:
    if is_over(values["day"]):
        raise invalid("the day is over", "day")
    change = writer.change()
    taken = Fault(SLOT_TAKEN, f"{values['time']} is taken; ask for `freeSlots`", "time")
    return await writer.commit(change, MutationResult(change.create("Appointment", values, taken=taken)))


async def free_slots(reader: CallerReader, arguments: dict[str, Any]) -> list[str]:
    day = arguments["day"]
    if is_over(day):
        return []
    that_day = {"doctorId": arguments["doctorId"], "day": Range(day, day)}
    booked = await reader.listed("appointmentsOfDoctor", that_day, first=len(TIMES))
    taken = {appointment["time"] for appointment in booked}
    return [time for time in TIMES if time not in taken]


BOOK = Mutation(
    name="bookAppointment",
    description="Book a slot of a doctor for a patient.",
    returns="Appointment",
    input=(
        DOCTOR_ID,
        DAY,
        Field("time", TIME, "The time of day when it begins."),
        Field("patientId", Id(), "The patient."),
        Field("reason", Text(500), "Why the patient comes.", required=False),
    ),
    run=book,
)
FREE_SLOTS = CustomQuery(
    name="freeSlots",
    description="Times of a day at which a doctor is free.",
    returns=ListOf(TIME, max_items=len(TIMES)),
    arguments=(DOCTOR_ID, DAY),
    run=free_slots,
    cost=5,
)
