"""Keys that hold what a role may not read: it neither sees them in a global id nor finds out values by asking."""

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


async def test_the_id_of_an_item_whose_key_is_hidden_is_refused_however_often_it_is_asked_for() -> None:
    async with serve(__name__) as client:
        await client.mutate(CREATE)
        for _ in range(5):  # by the reference; a lane would be made at the third time
            found: list[str] = []
            try:
                await client.query("{ allContacts(first: 5) { nodes { id title } } }", role="support")
            except GraphQLErrors as error:
                found = [*error.codes, *(each["message"] for each in error.errors)]
            assert found == ["FORBIDDEN", "the role `support` may not read `email`"]
            shown = await client.query("{ allContacts(first: 5) { nodes { title group } } }", role="support")
            assert shown["allContacts"]["nodes"] == [{"title": "Ann", "group": "g-1"}]


HIRE = """mutation { createPerson(input: {team: "t-1", nick: "joe", bornAt: "1980-05-05T00:00:00Z", title: "Cook"}) {
  errors { code } } }"""
RANGE = '{ found: allPeople(bornAt: {from: "%s-01-01T00:00:00Z"}) { nodes { title } } }'
NODE = '{ found: node(id: "%s") { ... on Person { title } } }'


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
        tuple(NODE % global_id("acme", "Person", ("t-1", nick)) for nick in ("joe", "jim")),
    ],
    ids=["range", "where", "lookup", "node"],
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
