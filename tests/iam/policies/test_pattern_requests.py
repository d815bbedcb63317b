"""Every access pattern becomes requests, whatever its keys are made of."""

from gateway.demo import MODEL
from gateway.iam.dynamodb.key_schemas import KeySchema, TableRegistry
from gateway.iam.dynamodb.requests import authorisations
from gateway.iam.policies.pattern_requests import questions
from gateway.model.patterns import Listing, Lookup
from gateway.model.tenant import owns, tenant_id
from tests.model.build import model, on, thing
from tests.store.fixtures import MODEL as EVERY_KIND

ACME = tenant_id("acme")


def test_every_pattern_is_asked_about_with_keys_of_its_tenant() -> None:
    for made in (MODEL, EVERY_KIND):
        found = questions(made, ACME)
        assert {question.pattern for question in found} == set(made.patterns)
        assert all(owns(ACME, question.key.pk) for question in found)


def test_a_lookup_is_asked_alone_and_in_a_batch() -> None:
    operations = {name: set[str]() for name in MODEL.patterns}
    for question in questions(MODEL, ACME):
        operations[question.pattern].add(question.operation)
    for name, pattern in MODEL.patterns.items():
        expected = {"GetItem", "BatchGetItem"} if isinstance(pattern, Lookup) else {"Query"}
        # its index does not carry every attribute
        through = {"BatchGetItem"} if name == "postsByCategory" else set()
        assert operations[name] == expected | through


def test_the_requests_are_understood_as_requests_for_that_key() -> None:
    for made in (MODEL, EVERY_KIND):
        keys = KeySchema(made.table.pk, {index.name: (index.pk,) for index in made.table.indexes})
        place = TableRegistry("eu-west-1", "123456789012", tables={"things": keys})
        for question in questions(made, ACME):
            for names in ((), ("PK", "SK")):
                (one,) = authorisations(question.operation, question.body(made.table, "things", names), place)
                assert one.context["dynamodb:LeadingKeys"] == (question.key.pk,)
                assert one.resource.endswith(f"/index/{question.index}" if question.index else "table/things")


def test_keys_of_numbers_flags_and_choices_have_samples() -> None:
    places = (
        on("GSI1", "COLOUR#{colour}#{active}", "{price:10.2}#{thingId}", low_cardinality_reason="few"),
        on("GSI2", "COUNT#{count:5}", "{madeAt}#{thingId}"),
    )
    listings = tuple(
        Listing(name=f"on{index}", entity="Thing", index=index, description="x") for index in ("GSI1", "GSI2")
    )
    found = questions(model(thing(indexes=places), patterns=listings), ACME)
    assert [question.key.pk for question in found] == ["TENANT#acme#COLOUR#RED#true", "TENANT#acme#COUNT#00001"]


def test_partitions_of_personal_attributes_are_marked() -> None:
    marked = {question.pattern for question in questions(MODEL, ACME) if question.personal}
    assert marked >= {"userByEmail", "userByPhone"}
    assert "user" not in marked
