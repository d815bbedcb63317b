"""Clinic as the gateway loads it: the setting `domains` is `["clinic.domain"]`."""

from gateway import Demo, DemoTenant, Domain, Example

from clinic import appointment, billing, booking, document, invoice, patient, roles
from clinic.seeds import rows

DOMAIN = Domain(
    name="clinic",
    description="Patients, their appointments, invoices and documents.",
    entities=(patient.PATIENT, appointment.APPOINTMENT, invoice.INVOICE, document.DOCUMENT),
    patterns=(*patient.PATTERNS, *appointment.PATTERNS, *invoice.PATTERNS, *document.PATTERNS),
    queries=(booking.FREE_SLOTS,),
    mutations=(*patient.MUTATIONS, *appointment.MUTATIONS, booking.BOOK, *billing.MUTATIONS, *document.MUTATIONS),
    error_codes=(booking.SLOT_TAKEN,),
    roles=roles.ROLES,
    demo=Demo(
        tenants=(DemoTenant("acme", "Acme"), DemoTenant("globex", "Globex")),
        rows=rows,
        examples=(
            Example(
                title="Patients by name",
                about="Ask as `support`: names are refused, ids are answered.",
                query="query Patients {\n  allPatients {\n    nodes { patientId name ageYears }\n  }\n}\n",
                tab=True,
            ),
        ),
    ),
)
