"""What doctors and the billing office may do, beside the standard roles."""

from gateway import STANDARD_ROLES, Role

DOCTOR = Role(
    name="doctor",
    description="reads a patient by id, reads and writes appointments; sees no invoice",
    reads=("patient", "Appointment"),
    writes=("Patient", "Appointment"),
    mutations=("bookAppointment", "updateAppointment", "removeAppointment"),
)
BILLING = Role(
    name="billing",
    description="reads patients and issues invoices; sees no appointment",
    reads=("Patient", "Invoice"),
    writes=("Patient", "Invoice"),
    removes=(),
    mutations=("issueInvoice", "payInvoice"),
)
ROLES = (*STANDARD_ROLES, DOCTOR, BILLING)
