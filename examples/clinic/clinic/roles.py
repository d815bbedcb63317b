"""What doctors, the billing office and the registry may do, beside the standard roles."""

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
    description="reads a patient by id and issues invoices; sees no appointment",
    reads=("patient", "Invoice"),
    writes=("Patient", "Invoice"),
    removes=(),
    mutations=("issueInvoice", "payInvoice"),
)
RECORDS = Role(
    name="records",
    description="reads patients, reads and writes their documents",
    reads=("Patient", "Document"),
    writes=("Patient", "Document"),
    mutations=("createDocument", "updateDocument", "removeDocument", "uploadDocumentContent", "setDocumentContent"),
)
ROLES = (*STANDARD_ROLES, DOCTOR, BILLING, RECORDS)
