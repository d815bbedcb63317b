"""Keys that hold what a role may not read: it neither sees them in a global id nor finds out values by asking."""

import base64

import pytest

from gateway import (
    Attribute,
    Domain,
    Entity,
    Id,
    Key,
    KeyString,
    Listing,
    Lookup,
    OnIndex,
    Text,
    Timestamp,
    crud,
    whole_list,
)
from gateway.graph.global_id import global_id
from gateway.testing import serve
from gateway.testing.client import GraphQLErrors

CONTACT = Entity(
    name="Contact",
    description="Somebody to write to.",
    attributes=(
        Attribute("email", KeyString(), "The address.", personal=True),
        Attribute("group", Id(), "What it belongs to."),
        Attribute("title", Text(100), "What it is called."),
    ),
    key=Key(pk="CONTACT#{email}", sk="META"),
    indexes=(whole_list("GSI1", "CONTACTS", sort="{group}", by="email"),),
)
PERSON = Entity(
    name="Person",
    description="Somebody of a team.",
    attributes=(
        Attribute("team", Id(), "The team."),
        Attribute("nick", KeyString(), "What it is called in the team.", personal=True),
        Attribute("bornAt", Timestamp(), "The birthday.", personal=True),
        Attribute("title", Text(100), "What it does."),
    ),
    key=Key(pk="TEAM#{team}", sk="PERSON#{nick}"),
    indexes=(
        whole_list("GSI1", "PEOPLE", sort="{bornAt}#{team}", by="nick"),
        OnIndex(index="GSI2", pk="MATES#{team}", sk="{nick}"),
    ),
)
DOMAIN = Domain(
    name="contacts",
    description="Contacts.",
    entities=(CONTACT, PERSON),
    patterns=(
        Lookup(name="person", entity="Person", description="By its key."),
        Listing(name="allPeople", entity="Person", index="all", between="bornAt", description="By age."),
        Listing(name="mates", entity="Person", index="GSI2", where=("nick",), description="By nick."),
        Lookup(name="contact", entity="Contact", description="By its address."),
        Listing(name="allContacts", entity="Contact", index="all", description="All."),
    ),
    mutations=(*crud(CONTACT), *crud(PERSON)),
)
CREATE = """mutation { createContact(input: {email: "ann@example.com", group: "g-1", title: "Ann"}) {
  errors { code } } }"""


HIRE = """mutation { createPerson(input: {team: "t-1", nick: "joe", bornAt: "1980-05-05T00:00:00Z", title: "Cook"}) {
  errors { code } } }"""
PEOPLE = "{ allPeople { nodes { id title } } }"
RANGE = '{ found: allPeople(bornAt: {from: "%s-01-01T00:00:00Z"}) { nodes { title } } }'


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (RANGE % 1980, RANGE % 1981),
        *(
            (query % "joe", query % "jim")
            for query in (
                '{ found: mates(team: "t-1", nick: "%s") { nodes { title } } }',
                '{ found: person(team: "t-1", nick: "%s") { title } }',
            )
        ),
    ],
    ids=["range", "where", "lookup"],
)
async def test_a_role_does_not_search_by_what_it_may_not_read(right: str, wrong: str) -> None:
    async with serve(__name__) as client:
        await client.mutate(HIRE)
        assert "Cook" in str(await client.query(right))
        for query in (right, wrong):
            for _ in range(4):  # by the reference, then where a lane could be made
                with pytest.raises(GraphQLErrors, match="nor search by it") as refused:
                    await client.query(query, role="support")
                assert refused.value.codes == ["FORBIDDEN"]
        shown = await client.query("{ allPeople { nodes { title team } } }", role="support")
        assert shown == {"allPeople": {"nodes": [{"title": "Cook", "team": "t-1"}]}}


def by_id(node_id: str) -> str:
    return f'{{ node(id: "{node_id}") {{ id ... on Person {{ title }} ... on Contact {{ title }} }} }}'


@pytest.mark.parametrize("role", ["support", "admin"])
async def test_an_id_does_not_reveal_a_key_with_personal_data_and_leads_to_its_item(role: str) -> None:
    async with serve(__name__) as client:
        await client.mutate(HIRE)
        ids = set[str]()
        for _ in range(4):  # by the reference, then in a lane
            [person] = (await client.query(PEOPLE, role=role))["allPeople"]["nodes"]
            ids.add(person["id"])
            assert (await client.query(by_id(person["id"]), role=role))["node"] == {"id": person["id"], "title": "Cook"}
        [one] = ids
        assert b"joe" not in base64.urlsafe_b64decode(one + "==")


async def test_an_item_that_was_just_written_has_the_same_id() -> None:
    async with serve(__name__) as client:
        written = await client.mutate(HIRE.replace("errors", "person { id title } errors"))
        assert (await client.query(PEOPLE))["allPeople"]["nodes"] == [written["createPerson"]["person"]]


async def test_a_partition_that_a_role_may_not_read_stays_closed_by_id() -> None:
    """The address is in the partition key of a contact, which the policies of `support` do not allow."""
    async with serve(__name__) as client:
        await client.mutate(CREATE)
        query = "{ allContacts(first: 5) { nodes { id title } } }"
        [contact] = (await client.query(query, role="support"))["allContacts"]["nodes"]
        assert contact["title"] == "Ann"
        for _ in range(4):
            with pytest.raises(GraphQLErrors) as refused:
                await client.query(by_id(contact["id"]), role="support")
            assert refused.value.codes == ["FORBIDDEN"]


async def test_an_id_cannot_be_computed_to_find_out_whether_somebody_exists() -> None:
    async with serve(__name__) as client:
        await client.mutate(HIRE)
        for role in ("support", "admin"):
            for nick in ("joe", "jim"):
                computed = global_id("acme", "Person", ("t-1", nick))
                for _ in range(4):
                    assert await client.query(by_id(computed), role=role) == {"node": None}


async def test_an_encrypted_id_is_bound_to_its_tenant() -> None:
    async with serve(__name__) as client:
        for tenant in ("acme", "globex"):
            await client.mutate(HIRE, tenant=tenant)
        [ours] = (await client.query(PEOPLE, tenant="acme"))["allPeople"]["nodes"]
        [theirs] = (await client.query(PEOPLE, tenant="globex"))["allPeople"]["nodes"]
        assert ours["id"] != theirs["id"]
        for _ in range(4):
            assert await client.query(by_id(ours["id"]), tenant="globex") == {"node": None}
