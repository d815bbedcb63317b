"""A type is one class: this file declares one and uses it through the store, the schema, the lanes and the policies."""

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, final

import pytest

from gateway.errors import BadUserInput
from gateway.graph.mutation.crud import crud
from gateway.graph.playground.first_query import first_query
from gateway.graph.schema.schema import build_schema
from gateway.iam.policies.pattern_requests import questions
from gateway.iam.policies.policies import generated
from gateway.model.docs.patterns import access_patterns
from gateway.model.entity import Attribute, Collection, Entity, Key, OnIndex, Reference
from gateway.model.model import Domain, Model
from gateway.model.patterns import Listing, Lookup
from gateway.model.tenant import TenantId
from gateway.model.types import Decode, Id, KeyType, ListOf, ScalarSpec, SetOf, Wire
from gateway.ops.policies.files import permissions_for
from tests.graph.fixtures import MemoryEndpoint, ServedModel, no_lanes


def _parse(value: Any) -> timedelta:
    found = re.fullmatch(r"PT([0-9]{1,6})S", value) if isinstance(value, str) else None
    if found is None:
        raise BadUserInput("a Duration is written like `PT90S`")
    return timedelta(seconds=int(found[1]))


def _seconds(value: timedelta) -> int:
    return int(value.total_seconds())


@final
@dataclass(frozen=True, slots=True)
class Duration(KeyType):
    """A length of time in whole seconds."""

    tag = "N"
    scalar = ScalarSpec(
        "Duration",
        timedelta,
        "A length of time, such as `PT90S`.",
        "https://en.wikipedia.org/wiki/ISO_8601#Durations",
        lambda value: f"PT{_seconds(value)}S",
        _parse,
    )
    ordered = True
    shardable = True
    documentation = "duration in seconds"
    sample = timedelta(seconds=90)
    key_pattern = re.compile("[0-9]{6}")

    def encode(self, name: str, value: Any) -> Wire:
        return {"N": str(int(self.key_text(name, value)))}

    def decoder(self) -> Decode:
        return lambda wire: timedelta(seconds=int(wire["N"]))

    def key_text(self, name: str, value: Any, width: int = 0, scale: int = 0) -> str:
        if not isinstance(value, timedelta) or not 0 <= _seconds(value) < 10**6:
            raise BadUserInput(f"`{name}` needs a duration below 1,000,000 seconds")
        return f"{_seconds(value):06}"

    def key_value(self, text: str) -> timedelta | None:
        return timedelta(seconds=int(text)) if self.key_pattern.fullmatch(text) else None

    def key_length(self, width: int, scale: int) -> int:
        return 6


TRACK = Entity(
    name="Track",
    description="A piece of music.",
    attributes=(
        Attribute("trackId", Id(), "The track's id."),
        Attribute("length", Duration(), "How long it takes."),
        Attribute("pauses", ListOf(Duration()), "The pauses in it.", required=False),
        Attribute("marks", SetOf(Duration()), "Where chapters begin.", required=False),
    ),
    key=Key(pk="TRACK#{trackId}", sk="META"),
    indexes=(
        OnIndex(index="GSI1", pk="LENGTH#{length}", sk="{trackId}"),
        OnIndex(index="GSI2", pk="TRACKS", sk="{length}#{trackId}", low_cardinality_reason="an album is small"),
    ),
    relations=(Collection(name="asLong", pattern="tracksOfLength", description="Tracks that are as long."),),
)
SLOT = Entity(
    name="Slot",
    description="A slot of a programme: keyed by its length alone.",
    attributes=(Attribute("length", Duration(), "How long it takes."), Attribute("trackId", Id(), "What is played.")),
    key=Key(pk="SLOT#{length}", sk="META"),
    relations=(Reference(name="track", pattern="track", description="What is played."),),
)
PATTERNS = (
    Lookup(name="track", entity="Track", description="One track by id."),
    Lookup(name="slot", entity="Slot", description="The slot of a length."),
    Listing(name="tracksOfLength", entity="Track", index="GSI1", description="Tracks that take as long."),
    Listing(name="tracks", entity="Track", index="GSI2", between="length", description="All tracks, shortest first."),
)
MODEL = Model(
    domains=(
        Domain(
            name="radio",
            description="Music by length.",
            entities=(TRACK, SLOT),
            patterns=PATTERNS,
            mutations=(*crud(TRACK), *crud(SLOT)),
        ),
    )
)
SCHEMA = build_schema(MODEL)
CREATE = """mutation ($input: CreateTrackInput!) { createTrack(input: $input) {
    track { length pauses marks } errors { code message } } }"""
QUERIES = {
    "a lookup": '{ track(trackId: "t-1") { id length pauses marks asLong { nodes { trackId } } } }',
    "a key": '{ slot(length: "PT90S") { id length track { length } } }',
    "a parameter": '{ tracksOfLength(length: "PT90S", first: 1) { nodes { trackId length } pageInfo { endCursor } } }',
    "a range": '{ tracks(length: {from: "PT80S", to: "PT100S"}) { edges { cursor node { trackId } } } }',
}


@pytest.fixture
async def api() -> MemoryEndpoint:
    api = MemoryEndpoint(served=ServedModel(MODEL, SCHEMA, permissions_for(generated(MODEL), MODEL), []))
    for number, seconds in enumerate((90, 90, 300), start=1):
        track = {"trackId": f"t-{number}", "length": f"PT{seconds}S", "pauses": ["PT5S"], "marks": ["PT7S", "PT3S"]}
        answer = await api.ask(CREATE, {"input": track}, token="acme/editor")
        assert answer["createTrack"]["errors"] == []
    slot = 'mutation { createSlot(input: {length: "PT90S", trackId: "t-1"}) { errors { message } } }'
    assert await api.ask(slot, token="acme/editor") == {"createSlot": {"errors": []}}
    return api


async def test_a_value_is_stored_and_indexed_as_its_type_says(api: MemoryEndpoint) -> None:
    row = api.memory.rows["TENANT#acme#TRACK#t-1", "META"]
    assert (row["length"], row["pauses"], row["marks"]) == ({"N": "90"}, {"L": [{"N": "5"}]}, {"NS": ["3", "7"]})
    assert (row["GSI1PK"]["S"], row["GSI2SK"]["S"]) == ("TENANT#acme#LENGTH#000090", "000090#t-1")


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES.keys())
async def test_a_lane_answers_as_the_reference_does(api: MemoryEndpoint, query: str) -> None:
    before = api.lanes.get("lane", 0)
    answer = await api.ask(query)
    assert api.lanes == {"lane": before + 1}
    api.endpoint = replace(api.endpoint, lanes=no_lanes(api))
    assert await api.ask(query) == answer


async def test_values_are_shown_ranged_and_paged_as_their_type_says(api: MemoryEndpoint) -> None:
    track = (await api.ask(QUERIES["a lookup"]))["track"]
    assert (track["length"], track["pauses"], track["marks"]) == ("PT90S", ["PT5S"], ["PT3S", "PT7S"])
    assert [node["trackId"] for node in track["asLong"]["nodes"]] == ["t-1", "t-2"]
    ranged = (await api.ask(QUERIES["a range"]))["tracks"]["edges"]
    assert [edge["node"]["trackId"] for edge in ranged] == ["t-1", "t-2"]
    page = (await api.ask(QUERIES["a parameter"]))["tracksOfLength"]
    after = page["pageInfo"]["endCursor"]
    query = f'{{ tracksOfLength(length: "PT90S", after: "{after}") {{ nodes {{ trackId }} }} }}'
    assert (await api.ask(query))["tracksOfLength"]["nodes"] == [{"trackId": "t-2"}]
    other = await api.post(query.replace("PT90S", "PT300S"))
    assert other.json()["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"


async def test_a_global_id_leads_back_to_an_item_keyed_by_it(api: MemoryEndpoint) -> None:
    slot = (await api.ask(QUERIES["a key"]))["slot"]
    query = "query ($id: ID!) { node(id: $id) { ... on Slot { length } } }"
    assert await api.ask(query, {"id": slot["id"]}) == {"node": {"length": "PT90S"}}


@pytest.mark.parametrize("value", ["90", 90, None, "PT1234567S"])
async def test_a_wrong_value_is_refused(api: MemoryEndpoint, value: Any) -> None:
    answer = (await api.post(CREATE, {"input": {"trackId": "t-9", "length": value}}, "acme/editor")).json()
    assert answer["errors"]
    assert ("TENANT#acme#TRACK#t-9", "META") not in api.memory.rows


def test_the_schema_has_its_scalar_and_its_range() -> None:
    text = SCHEMA.as_str()
    assert 'scalar Duration @specifiedBy(url: "https://en.wikipedia.org/wiki/ISO_8601#Durations")' in text
    assert "length: DurationRange" in text


def test_the_policies_are_tried_with_its_sample() -> None:
    partitions = {question.pattern: question.key.pk for question in questions(MODEL, TenantId("acme"))}
    assert partitions["slot"] == "TENANT#acme#SLOT#000090"
    assert partitions["tracksOfLength"] == "TENANT#acme#LENGTH#000090"


def test_the_documentation_and_the_playground_know_it() -> None:
    assert "| `length` | duration in seconds |" in access_patterns(MODEL)
    assert first_query(MODEL) == "{ tracks(first: 3) { nodes { trackId length } } }"
