"""The clinic in memory, and on the sandbox with real sessions and IAM enforced."""

from datetime import date, timedelta
from typing import Any

import pytest
from gateway.testing import GatewayClient, GraphQLErrors, serve

TODAY = date.today()
TOMORROW = TODAY + timedelta(days=1)
REGISTER = """mutation ($input: CreatePatientInput!) {
  createPatient(input: $input) { patient { patientId } errors { code field } } }"""
BOOK = """mutation ($input: BookAppointmentInput!) {
  bookAppointment(input: $input) { appointment { status } errors { code field message } } }"""
UPDATE = """mutation ($input: UpdateAppointmentInput!) {
  updateAppointment(input: $input) { errors { code } } }"""
ISSUE = """mutation ($input: IssueInvoiceInput!) {
  issueInvoice(input: $input) { invoice { invoiceId total { amount currency } } errors { code field } } }"""
PAY = """mutation ($input: PayInvoiceInput!) {
  payInvoice(input: $input) { invoice { status } errors { code field message } } }"""
REMOVE = "mutation ($id: ID!) { removePatient(input: {patientId: $id}) { errors { code } } }"
PATIENTS = "{ allPatients { nodes { name ageYears } } }"
DAY = """query ($day: Date!, $status: AppointmentStatus) {
  appointmentsOfDay(day: $day, filter: {status: {eq: $status}}) { nodes { time patient { name } } } }"""
FREE = 'query ($day: Date!) { freeSlots(doctorId: "d-1", day: $day) }'
OPEN = "{ openInvoices { totalCount nodes { total { amount } } } }"


def register(client: GatewayClient, name: str, born: date = date(1980, 5, 17), **more: str) -> str:
    patient = {"name": name, "birthDate": born.isoformat(), "email": None, **more}
    made = client.mutate(REGISTER, {"input": patient})["createPatient"]
    assert made["errors"] == []
    return str(made["patient"]["patientId"])


def book(client: GatewayClient, patient: str, time: str, day: date = TOMORROW, role: str = "editor") -> dict[str, Any]:
    slot = {"doctorId": "d-1", "day": day.isoformat(), "time": time, "patientId": patient}
    return dict(client.mutate(BOOK, {"input": slot}, role=role)["bookAppointment"])


def codes(payload: dict[str, Any]) -> list[tuple[str, str]]:
    return [(error["code"], error["field"]) for error in payload["errors"]]


def issue(client: GatewayClient, patient: str, *prices: dict[str, str], role: str = "billing") -> dict[str, Any]:
    lines = [{"text": "Consultation", "quantity": 2, "price": price} for price in prices]
    return dict(client.mutate(ISSUE, {"input": {"patientId": patient, "lines": lines}}, role=role)["issueInvoice"])


def test_patients_are_listed_by_name_with_their_age(gateway_client: GatewayClient) -> None:
    for number, name in enumerate(("Noether Emmy", "Curie  Marie", "Lovelace Ada")):
        register(gateway_client, name, TODAY.replace(year=TODAY.year - 30 - number, day=1))
    assert gateway_client.query(PATIENTS)["allPatients"]["nodes"] == [
        {"name": "Curie Marie", "ageYears": 31},
        {"name": "Lovelace Ada", "ageYears": 32},
        {"name": "Noether Emmy", "ageYears": 30},
    ]
    assert gateway_client.calls == ["Query"] * 4, "one for each shard, however many patients there are"


def test_a_slot_is_booked_once(sandbox_client: GatewayClient) -> None:
    ada, emmy = register(sandbox_client, "Lovelace Ada"), register(sandbox_client, "Noether Emmy")
    assert book(sandbox_client, ada, "09:00") == {"appointment": {"status": "BOOKED"}, "errors": []}
    assert codes(book(sandbox_client, emmy, "09:00")) == [("SLOT_TAKEN", "time")]
    assert codes(book(sandbox_client, emmy, "07:00")) == [("INVALID", "time")]
    assert codes(book(sandbox_client, emmy, "09:30", TODAY - timedelta(days=1))) == [("INVALID", "day")]
    assert codes(book(sandbox_client, "nobody", "09:30")) == [("NOT_FOUND", "patientId")]
    free = sandbox_client.query(FREE, {"day": TOMORROW.isoformat()})["freeSlots"]
    assert (len(free), free[:3]) == (17, ["08:00", "08:30", "09:30"])


def test_a_day_is_filtered_by_status_and_its_patients_are_read_at_once(gateway_client: GatewayClient) -> None:
    for number, time in enumerate(("10:00", "09:00", "11:00")):
        assert codes(book(gateway_client, register(gateway_client, f"Patient {number}"), time)) == []
    seen = {"doctorId": "d-1", "day": TOMORROW.isoformat(), "time": "11:00", "status": "SEEN"}
    assert gateway_client.mutate(UPDATE, {"input": seen})["updateAppointment"]["errors"] == []
    day = gateway_client.query(DAY, {"day": TOMORROW.isoformat(), "status": "BOOKED"})["appointmentsOfDay"]
    assert [(node["time"], node["patient"]["name"]) for node in day["nodes"]] == [
        ("09:00", "Patient 1"),
        ("10:00", "Patient 0"),
    ]
    assert gateway_client.calls == ["Query", "BatchGetItem"]


def test_an_invoice_is_issued_paid_once_and_kept(sandbox_client: GatewayClient) -> None:
    ada = register(sandbox_client, "Lovelace Ada")
    euros, yen = {"amount": "19.95", "currency": "EUR"}, {"amount": "100", "currency": "JPY"}
    assert codes(issue(sandbox_client, ada, euros, yen)) == [("INVALID", "lines")]
    made = issue(sandbox_client, ada, euros, euros)["invoice"]
    assert made["total"] == {"amount": "79.80", "currency": "EUR"}
    payment = {"patientId": ada, "invoiceId": made["invoiceId"], "amount": euros}
    assert codes(sandbox_client.mutate(PAY, {"input": payment})["payInvoice"]) == [("INVALID", "amount")]
    assert sandbox_client.query(OPEN)["openInvoices"]["totalCount"] == 1
    payment = {**payment, "amount": made["total"]}
    assert sandbox_client.mutate(PAY, {"input": payment})["payInvoice"]["invoice"] == {"status": "PAID"}
    assert codes(sandbox_client.mutate(PAY, {"input": payment})["payInvoice"]) == [("INVALID", "invoiceId")]
    assert sandbox_client.query(OPEN) == {"openInvoices": {"totalCount": 0, "nodes": []}}
    assert sandbox_client.mutate(REMOVE, {"id": ada}, role="admin")["removePatient"]["errors"] == [{"code": "IN_USE"}]


def test_tenants_and_support_do_not_see_patients(sandbox_client: GatewayClient) -> None:
    register(sandbox_client, "Lovelace Ada")
    assert sandbox_client.query(PATIENTS, tenant="globex") == {"allPatients": {"nodes": []}}
    with pytest.raises(GraphQLErrors) as refused:
        sandbox_client.query(PATIENTS, role="support")
    assert set(refused.value.codes) == {"FORBIDDEN"}
    assert "Lovelace" not in str(refused.value.data)


def test_doctors_and_the_billing_office_have_their_own_part(sandbox_client: GatewayClient) -> None:
    ada = register(sandbox_client, "Lovelace Ada")
    price = {"amount": "40", "currency": "EUR"}
    assert codes(book(sandbox_client, ada, "09:00", role="doctor")) == []
    assert codes(issue(sandbox_client, ada, price, role="billing")) == []
    # what a role cannot use is not in its schema
    with pytest.raises(GraphQLErrors, match="Cannot query field 'issueInvoice'"):
        issue(sandbox_client, ada, price, role="doctor")
    with pytest.raises(GraphQLErrors, match="Cannot query field"):
        sandbox_client.query(OPEN, role="doctor")
    with pytest.raises(GraphQLErrors, match="Cannot query field 'bookAppointment'"):
        book(sandbox_client, ada, "10:00", role="billing")
    with pytest.raises(GraphQLErrors, match="Cannot query field"):
        sandbox_client.query(DAY, {"day": TOMORROW.isoformat()}, role="billing")


def test_the_demo_rows_fit_the_model() -> None:
    with serve("clinic.domain", demo=True) as client:
        patients = client.query(PATIENTS, tenant="globex")["allPatients"]["nodes"]
        assert patients[0]["name"] == "Curie Marie (globex)"
