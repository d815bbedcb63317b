"""Invoices are issued and paid by mutations with rules of their own."""

from typing import Any

from gateway import Field, Id, ListOf, Money, Mutation, MutationResult, Writer, invalid

from clinic.invoice import LINE, InvoiceStatus
from clinic.records import Invoice


async def issue(writer: Writer, values: dict[str, Any]) -> MutationResult:
    if len({line["price"]["currency"] for line in values["lines"]}) != 1:
        raise invalid("an invoice needs lines, all in one currency", "lines")
    amount = sum(line["quantity"] * line["price"]["amount"] for line in values["lines"])
    total = {**values["lines"][0]["price"], "amount": amount}
    change = writer.change()
    return await writer.commit(change, MutationResult(change.create("Invoice", {**values, "total": total})))


async def pay(writer: Writer, values: dict[str, Any]) -> MutationResult:
    key = {"patientId": values["patientId"], "invoiceId": values["invoiceId"]}
    invoice = await writer.stored(Invoice, key)
    if invoice.status is InvoiceStatus.PAID:
        raise invalid("the invoice is paid already", "invoiceId")
    if values["amount"] != invoice.total:
        raise invalid(f"the total is {invoice.total['amount']} {invoice.total['currency']}", "amount")
    change = writer.change()
    paid = change.update(invoice.as_item, {"status": InvoiceStatus.PAID})
    return await writer.commit(change, MutationResult(paid))


PATIENT_ID = Field("patientId", Id(), "The patient who pays.")
MUTATIONS = (
    Mutation(
        name="issueInvoice",
        description="Issue an invoice; its total is the sum of its lines.",
        returns="Invoice",
        input=(PATIENT_ID, Field("lines", ListOf(LINE, max_items=50), "What was done.")),
        run=issue,
    ),
    Mutation(
        name="payInvoice",
        description="Record that a patient has paid the whole invoice.",
        returns="Invoice",
        input=(PATIENT_ID, Field("invoiceId", Id(), "The invoice."), Field("amount", Money(), "What was paid.")),
        run=pay,
    ),
)
