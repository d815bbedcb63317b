"""A library whose rules are declared: members, books, the loans of a member and the notes on a loan."""

from datetime import UTC, datetime
from typing import Any

from gateway.graph.mutation.crud import crud, new_id
from gateway.graph.schema.schema import build_schema
from gateway.iam.policies.policies import generated
from gateway.model.entity import Attribute, Collection, Entity, Expiry, Key, OnIndex, Reference
from gateway.model.model import Domain, Model
from gateway.model.patterns import Listing, Lookup
from gateway.model.types import Date, DecimalNumber, Email, Id, Integer, KeyString, ListOf, Money, Text, Timestamp
from gateway.ops.policies.files import permissions_for
from tests.graph.fixtures import MemoryEndpoint, ServedModel

_YEAR = KeyString(pattern="[0-9]{4}", example="2026")
MEMBER = Entity(
    name="Member",
    description="A person who borrows books.",
    attributes=(
        Attribute("memberId", Id(), "The id.", default=new_id),
        Attribute("email", Email(), "The address.", personal=True),
        Attribute("name", Text(50, normalise=("strip", "spaces")), "The name."),
        Attribute("bornOn", Date(), "The birthday.", required=False),
        Attribute("deposit", Money(), "The deposit.", required=False),
        Attribute("limit", Integer(min=0, max=500), "How many books.", default=5),
        Attribute("joinedIn", _YEAR, "The year.", immutable=True, default="2026"),
    ),
    key=Key(pk="MEMBER#{memberId}", sk="META"),
    indexes=(
        OnIndex(index="GSI1", pk="EMAIL#{email}", sk="{memberId}"),
        OnIndex(index="GSI2", pk="JOINED#{joinedIn}", sk="{bornOn}#{memberId}"),
    ),
    relations=(Collection(name="loans", pattern="loansOfMember", description="The loans."),),
    unique=("email",),
)
BOOK = Entity(
    name="Book",
    description="A book.",
    attributes=(
        Attribute("isbn", Id(), "The number."),
        Attribute("title", Text(100), "The title."),
        Attribute("price", DecimalNumber(min=0), "The price.", required=False),
        Attribute("tags", ListOf(Text(10)), "Words.", required=False),
    ),
    key=Key(pk="BOOK#{isbn}", sk="META"),
)
LOAN = Entity(
    name="Loan",
    description="A loan; it goes with its member, and its book stays while it is lent.",
    attributes=(
        Attribute("memberId", Id(), "The member."),
        Attribute("loanId", Id(), "The id."),
        Attribute("isbn", Id(), "The book.", required=False),
        Attribute("until", Timestamp(), "When it ends.", required=False),
    ),
    key=Key(pk="MEMBER#{memberId}", sk="LOAN#{loanId}"),
    indexes=(OnIndex(index="GSI1", pk="LOANS#{isbn}", sk="{memberId}#{loanId}"),),
    relations=(
        Reference(name="member", pattern="member", description="The member.", required=True, on_remove="cascade"),
        Reference(name="book", pattern="book", description="The book.", on_remove="restrict"),
    ),
    expiry=Expiry(at="until"),
)
NOTE = Entity(
    name="Note",
    description="A note on a loan.",
    attributes=(
        Attribute("memberId", Id(), "The member."),
        Attribute("loanId", Id(), "The loan."),
        Attribute("noteId", Id(), "The id."),
    ),
    key=Key(pk="NOTES#{memberId}#{loanId}", sk="{noteId}"),
    relations=(Reference(name="loan", pattern="loan", description="The loan.", required=True, on_remove="cascade"),),
)
PATTERNS = (
    Lookup(name="member", entity="Member", description="One member.", strong=True),
    Listing(name="memberByEmail", entity="Member", index="GSI1", single=True, description="By address."),
    Listing(name="membersOfYear", entity="Member", index="GSI2", between="bornOn", description="By birthday."),
    Lookup(name="book", entity="Book", description="One book.", strong=True),
    Lookup(name="loan", entity="Loan", description="One loan.", strong=True),
    Listing(name="loansOfMember", entity="Loan", description="The loans of a member."),
    Listing(name="loansOfBook", entity="Loan", index="GSI1", description="The loans of a book."),
    Listing(name="notesOfLoan", entity="Note", description="The notes of a loan."),
)
ENTITIES = (MEMBER, BOOK, LOAN, NOTE)
MUTATIONS = tuple(mutation for entity in ENTITIES for mutation in crud(entity))
MODEL = Model(
    domains=(
        Domain(
            name="library", description="Books and loans.", entities=ENTITIES, patterns=PATTERNS, mutations=MUTATIONS
        ),
    )
)
SCHEMA = build_schema(MODEL)
_PERMISSIONS = permissions_for(generated(MODEL), MODEL)


def library() -> MemoryEndpoint:
    return MemoryEndpoint(served=ServedModel(MODEL, SCHEMA, _PERMISSIONS, []))


async def change(api: MemoryEndpoint, name: str, item: str, /, **values: Any) -> dict[str, Any]:
    """The payload of a mutation; `item` is what is selected of it."""
    title, entity = name[0].upper() + name[1:], name[len("create") :]
    field = entity[0].lower() + entity[1:]
    query = f"""mutation ($input: {title}Input!) {{ {name}(input: $input) {{
      {field} {{ {item} }} errors {{ code field message }} }} }}"""
    payload = (await api.ask(query, {"input": values}, token="acme/admin"))[name]
    return {"item": payload[field], "errors": payload["errors"]}


async def lent(api: MemoryEndpoint, loans: int = 1, **more: Any) -> None:
    """A member with loans of one book."""
    assert (await change(api, "createMember", "memberId", memberId="m", email="m@x.org", name="M"))["item"]
    assert (await change(api, "createBook", "isbn", isbn="b", title="B"))["item"]
    for number in range(loans):
        made = await change(api, "createLoan", "loanId", memberId="m", loanId=f"l{number}", isbn="b", **more)
        assert made["errors"] == []


def kinds(api: MemoryEndpoint) -> list[str]:
    return sorted(row["EntityType"]["S"] for row in api.memory.rows.values())


FUTURE = datetime(2999, 1, 1, tzinfo=UTC).isoformat()
