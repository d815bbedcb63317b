"""What is wrong with a file is reported with the entity, the fault and what to do."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from gateway import (
    Attribute,
    Entity,
    Expiry,
    Field,
    File,
    Id,
    Key,
    KeyString,
    ListOf,
    Mutation,
    Struct,
    Text,
    Timestamp,
)
from gateway.errors import BadUserInput
from gateway.model.checks.entity import entity_faults
from gateway.model.checks.mutations import mutation_faults
from gateway.model.files.checks import input_faults
from gateway.model.files.keys import object_key
from gateway.model.tenant import tenant_id
from tests.files.vault import AVATAR, MODEL, PAPER

PDF = File(max_bytes=10, content_types=("application/pdf",))


def paper(*more: Attribute, **changes: Any) -> Entity:
    return replace(PAPER, **{"attributes": (*PAPER.attributes[:2], *more), **changes})


@pytest.mark.parametrize(
    ("entity", "fault"),
    [
        (paper(Attribute("file", PDF, "It.")), "`file` is a file and required, .* declare `required=False`"),
        (paper(Attribute("file", PDF, "It.", False, default={})), "`file` is a file and has a default"),
        (paper(Attribute("file", PDF, "It.", False, compressed=True)), "`file` is a file and compressed"),
        (
            paper(Attribute("files", ListOf(PDF), "All.", False)),
            "`files` has a file inside; a File must be an attribute",
        ),
        (
            paper(Attribute("pair", Struct("Pair", (Field("file", PDF, "It."),)), "Two.", False)),
            "`pair` has a file inside",
        ),
        (
            paper(
                Attribute("file", PDF, "It.", False),
                Attribute("endsAt", Timestamp(), "The end."),
                expiry=Expiry(at="endsAt"),
            ),
            "DynamoDB would delete expired items without it",
        ),
        (
            paper(
                Attribute("file", PDF, "It.", False),
                Attribute("place", KeyString(), "Where."),
                key=Key(pk="PAPER#{paperId}", sk="AT#{place}"),
            ),
            r"contains `place`, which must be an Id\(\)",
        ),
        (
            paper(Attribute("file", PDF, "It.", False), Attribute("userId", Id(), "Whose."), owner="userId"),
            "declare `userId` with `immutable=True`",
        ),
        (paper(Attribute("file", File(content_types=("text/html",), max_bytes=0), "It.", False)), "`max_bytes` is 0"),
        (paper(Attribute("file", File(), "It.", False)), "`content_types` is empty; name the types"),
        (
            paper(Attribute("file", File(content_types=("Text/*",)), "It.", False)),
            r"`Text/\*` is not a content type such as application/pdf",
        ),
    ],
)
def test_a_wrong_file_is_refused_when_the_model_is_loaded(entity: Entity, fault: str) -> None:
    found = "; ".join(entity_faults(entity))
    assert "entity Paper: " in found
    assert re.search(fault, found), found


def test_a_right_one_is_not() -> None:
    assert [*entity_faults(PAPER), *entity_faults(AVATAR)] == []


def test_a_file_is_no_input() -> None:
    async def run(writer: Any, values: Any) -> Any: ...

    taken = Mutation(name="take", description="Take.", returns="Paper", input=(Field("file", PDF, "It."),), run=run)
    assert [*mutation_faults(taken)] == [
        "mutation take: `file` is a File, which cannot be an input; use the mutations of `file_mutations(entity)`"
    ]
    assert [*input_faults((Field("text", Text(), "It."),))] == []
    inputs = {field.name for mutation in MODEL.mutations for field in mutation.input}
    assert not inputs & {"scan", "signature", "picture"}


def test_a_key_has_the_owner_first_and_ids_only() -> None:
    acme = tenant_id("acme")
    assert object_key(acme, PAPER, "scan", {"paperId": "p-1"}, "u") == "acme/Paper/scan/p-1/u"
    assert object_key(acme, AVATAR, "picture", {"memberId": "m-1"}, "u") == "acme/Avatar/picture/m-1/u"
    for wrong in ("..", "a/b", "", "a\n", "%2e", datetime.now(UTC), None):
        with pytest.raises(BadUserInput):
            object_key(acme, PAPER, "scan", {"paperId": wrong}, "u")
        with pytest.raises(BadUserInput):
            object_key(acme, PAPER, "scan", {"paperId": "p-1"}, wrong)  # type: ignore[arg-type]  # that is the test


def test_size_and_type_are_rules_of_the_value() -> None:
    right = {"uploadId": "u", "size": 10, "contentType": "application/pdf", "sha256": PDF.sample["sha256"]}
    assert [*PDF.faults("file", right)] == []
    wrong = [*PDF.faults("file", {**right, "size": 11, "contentType": "text/html"})]
    assert [each.field for each in wrong] == ["file.size", "file.contentType"]
