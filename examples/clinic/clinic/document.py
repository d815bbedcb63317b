"""A document of a patient, such as a scanned letter; its content is a file."""

from gateway import (
    Attribute,
    Entity,
    File,
    Id,
    Key,
    Listing,
    Lookup,
    Reference,
    Text,
    Timestamp,
    crud,
    file_mutations,
    new_id,
    now,
)

DOCUMENT = Entity(
    name="Document",
    description="A letter, a report or a picture of a patient.",
    attributes=(
        Attribute("patientId", Id(), "The patient."),
        Attribute("documentId", Id(), "The document's id.", default=new_id),
        Attribute("title", Text(200), "What it is."),
        Attribute("addedAt", Timestamp(), "When it was added.", default=now),
        Attribute(
            "content",
            File(max_bytes=20_000_000, content_types=("application/pdf", "image/jpeg", "image/png")),
            "The document itself.",
            required=False,
        ),
    ),
    key=Key(pk="DOCUMENTS#{patientId}", sk="{documentId}"),
    relations=(Reference(name="patient", pattern="patient", description="The patient.", on_remove="restrict"),),
)
PATTERNS = (
    Lookup(name="document", entity="Document", description="One document."),
    Listing(name="documentsOfPatient", entity="Document", newest_first=True, description="Documents of a patient."),
)
MUTATIONS = (*crud(DOCUMENT), *file_mutations(DOCUMENT))
