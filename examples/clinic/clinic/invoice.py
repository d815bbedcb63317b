"""An invoice with its lines, in a partition for each patient."""

import enum

from gateway import (
    Attribute,
    Counter,
    Date,
    Entity,
    EnumOf,
    Field,
    Id,
    Integer,
    Key,
    Listing,
    ListOf,
    Lookup,
    Money,
    OnIndex,
    Reference,
    Shards,
    Struct,
    Text,
    When,
    new_id,
    now,
)

LINE = Struct(
    "InvoiceLine",
    (
        Field("text", Text(200), "What was done."),
        Field("quantity", Integer(min=1, max=100), "How many times."),
        Field("price", Money(), "The price of one."),
    ),
    "One line of an invoice.",
)


class InvoiceStatus(enum.Enum):
    """Whether an invoice is paid."""

    OPEN = "it is to be paid"
    PAID = "it is paid"


INVOICE = Entity(
    name="Invoice",
    description="What a patient has to pay.",
    attributes=(
        Attribute("patientId", Id(), "The patient who pays."),
        Attribute("invoiceId", Id(), "The invoice's id.", default=new_id),
        Attribute("issuedOn", Date(), "The day of the invoice.", default=lambda: now().date()),
        Attribute("status", EnumOf(InvoiceStatus), "Whether it is paid.", default=InvoiceStatus.OPEN),
        Attribute("lines", ListOf(LINE, max_items=50), "What was done."),
        Attribute("total", Money(), "The sum of the lines."),
    ),
    key=Key(pk="INVOICES#{patientId}", sk="{invoiceId}"),
    indexes=(
        OnIndex(
            index="GSI1",
            name="open",
            pk="OPEN_INVOICES#{shard}",
            sk="{issuedOn}#{patientId}#{invoiceId}",
            shards=Shards(2, by="invoiceId"),
            when=When("status", ("OPEN",)),
        ),
    ),
    relations=(Reference(name="patient", pattern="patient", description="The patient.", on_remove="restrict"),),
)
PATTERNS = (
    Lookup(name="invoice", entity="Invoice", description="One invoice."),
    Listing(name="invoicesOfPatient", entity="Invoice", newest_first=True, description="Invoices of a patient."),
    Listing(
        name="openInvoices",
        entity="Invoice",
        index="open",
        between="issuedOn",
        counter=Counter(shards=2),
        description="Invoices to be paid, oldest first.",
    ),
)
