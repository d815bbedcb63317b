"""A patient, found by id, and in one list by name."""

from typing import Any

from gateway import (
    Attribute,
    Collection,
    Computed,
    Date,
    Email,
    Entity,
    Id,
    Integer,
    Key,
    KeyString,
    Listing,
    Lookup,
    bulk,
    create,
    crud,
    new_id,
    now,
    whole_list,
)


def age_years(values: dict[str, Any]) -> int:
    today, born = now().date(), values["birthDate"]
    return int(today.year - born.year - ((today.month, today.day) < (born.month, born.day)))


PATIENT = Entity(
    name="Patient",
    description="A person whom the clinic treats.",
    attributes=(
        Attribute("patientId", Id(), "The patient's id.", default=new_id),
        Attribute("name", KeyString(normalise=("strip", "spaces")), "The family name comes first.", personal=True),
        Attribute("birthDate", Date(), "The date of birth.", personal=True),
        Attribute("email", Email(), "Where reminders go.", required=False, personal=True),
    ),
    key=Key(pk="PATIENT#{patientId}", sk="META"),
    indexes=(whole_list("GSI1", "PATIENTS", sort="{name}", by="patientId"),),
    unique=("email",),
    computed=(Computed("ageYears", Integer(), "The age in years, today.", needs=("birthDate",), run=age_years),),
    relations=(
        Collection(name="appointments", pattern="appointmentsOfPatient", description="Their appointments."),
        Collection(name="documents", pattern="documentsOfPatient", description="Their documents."),
        Collection(name="invoices", pattern="invoicesOfPatient", description="Their invoices."),
    ),
)
PATTERNS = (
    Lookup(name="patient", many="patients", entity="Patient", description="Patients by id, one or many at once."),
    Listing(name="allPatients", entity="Patient", index="all", description="All patients by name."),
)
MUTATIONS = (*crud(PATIENT), *bulk(create(PATIENT), max_items=100))
