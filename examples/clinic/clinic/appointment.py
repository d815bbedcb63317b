"""An appointment. Its key is the time slot, so a doctor has one patient at a time."""

import enum

from gateway import (
    Attribute,
    Date,
    Entity,
    EnumOf,
    Id,
    Key,
    KeyString,
    Listing,
    Lookup,
    OnIndex,
    Reference,
    Text,
    remove,
    update,
)

TIME = KeyString(pattern="(0[89]|1[0-6]):(00|30)", example="09:30")


class AppointmentStatus(enum.Enum):
    """What became of an appointment."""

    BOOKED = "the patient is expected"
    SEEN = "the doctor has seen the patient"
    MISSED = "the patient did not come"


APPOINTMENT = Entity(
    name="Appointment",
    description="Half an hour of a doctor's day, booked for a patient.",
    attributes=(
        Attribute("doctorId", Id(), "The doctor."),
        Attribute("day", Date(), "The day."),
        Attribute("time", TIME, "The time of day when it begins."),
        Attribute("patientId", Id(), "The patient.", immutable=True),
        Attribute("status", EnumOf(AppointmentStatus), "What became of it.", default=AppointmentStatus.BOOKED),
        Attribute("reason", Text(500), "Why the patient comes.", required=False, personal=True),
    ),
    key=Key(pk="DOCTOR#{doctorId}", sk="SLOT#{day}#{time}"),
    indexes=(
        OnIndex(index="GSI1", name="byDay", pk="DAY#{day}", sk="{time}#{doctorId}"),
        OnIndex(index="GSI2", name="byPatient", pk="PATIENT#{patientId}", sk="{day}#{time}#{doctorId}"),
    ),
    relations=(Reference(name="patient", pattern="patient", description="The patient.", required=True),),
)
PATTERNS = (
    Lookup(name="appointment", entity="Appointment", description="The appointment in a slot."),
    Listing(
        name="appointmentsOfDay",
        entity="Appointment",
        index="byDay",
        filter=("status",),
        description="Appointments of all doctors on a day.",
    ),
    Listing(
        name="appointmentsOfDoctor",
        entity="Appointment",
        between="day",
        description="Appointments of a doctor, in a range of days.",
    ),
    Listing(
        name="appointmentsOfPatient",
        entity="Appointment",
        index="byPatient",
        newest_first=True,
        description="Appointments of a patient, newest first.",
    ),
)
MUTATIONS = (update(APPOINTMENT), remove(APPOINTMENT))
