"""Manifests are read in the forms that tools write, checked against the schema, and made from .graphql files."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.errors import BadUserInput, ConfigurationError
from gateway.graph.http.manifest import make_manifest, read_manifest
from gateway.graph.query.limits import DocumentLimits
from gateway.graph.query.operation import Documents
from gateway.graph.schema.schema import core_schema
from tests.graph.fixtures import SCHEMA

DOCUMENTS = Documents(MODEL, core_schema(SCHEMA), DocumentLimits(), introspection=False)
TEXT = "query Who($id: ID!) { user(userId: $id) { name } }"


def written(tmp_path: Path, content: Any) -> Path:
    path = tmp_path / "manifest.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


@pytest.mark.parametrize(
    "content",
    [
        {"abc": TEXT},
        {"sha256:abc": TEXT},
        {
            "format": "apollo-persisted-query-manifest",
            "version": 1,
            "operations": [{"id": "abc", "name": "Who", "type": "query", "body": TEXT}],
        },
    ],
    ids=["relay and codegen", "codegen with the name of its hash", "apollo"],
)
def test_the_forms_of_the_tools_are_read(tmp_path: Path, content: Any) -> None:
    assert read_manifest(written(tmp_path, content), DOCUMENTS) == {"abc": TEXT}


@pytest.mark.parametrize(
    "content",
    [
        "{",
        [],
        "7",
        {"abc": 7},
        {"": TEXT},
        {"abc": ""},
        {"format": "apollo-persisted-query-manifest", "version": 1, "operations": [{"id": "abc"}]},
        {"format": "apollo-persisted-query-manifest", "version": 1, "operations": ["abc"]},
        {"format": "another", "operations": []},
    ],
)
def test_another_form_is_a_fault_of_the_settings(tmp_path: Path, content: Any) -> None:
    with pytest.raises(ConfigurationError, match="trusted_documents"):
        read_manifest(written(tmp_path, content), DOCUMENTS)


def test_a_missing_file_is_a_fault_of_the_settings(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_manifest(tmp_path / "none.json", DOCUMENTS)


def test_every_document_that_would_not_run_is_named(tmp_path: Path) -> None:
    wrong = {"a": "{ nothing }", "b": TEXT, "c": "{", "d": "{ " + "a " * 9_000 + "}"}
    with pytest.raises(ConfigurationError) as caught:
        read_manifest(written(tmp_path, wrong), DOCUMENTS)
    assert [fault.split("`")[1] for fault in caught.value.faults] == ["a", "c", "d"]


def made(tmp_path: Path, **files: str) -> Any:
    for name, text in files.items():
        path = tmp_path / f"{name}.graphql"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return make_manifest([tmp_path], DOCUMENTS)


def test_operations_are_found_with_the_fragments_they_need(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "fragments.gql").write_text(
        "fragment Line on OrderLine { title product { ...Product } } fragment Product on Product { title }"
        " fragment Unused on Product { title }"
    )
    (tmp_path / "readme.md").write_text("no GraphQL")
    manifest = made(
        tmp_path,
        order="query Order($id: ID!) { order(orderId: $id) { lines { ...Line product { ...Product } } } }",
        rename="mutation Rename($input: UpdateProductInput!) { updateProduct(input: $input) { errors { code } } }",
    )
    assert [(each["name"], each["type"]) for each in manifest["operations"]] == [
        ("Order", "query"),
        ("Rename", "mutation"),
    ]
    body = manifest["operations"][0]["body"]
    assert body.count("fragment Product on") == body.count("fragment Line on") == 1
    assert "Unused" not in body
    assert manifest["operations"][0]["id"] == hashlib.sha256(body.encode()).hexdigest()


def test_what_is_made_can_be_read(tmp_path: Path) -> None:
    manifest = made(tmp_path, who=TEXT)
    [operation] = manifest["operations"]
    assert read_manifest(written(tmp_path, manifest), DOCUMENTS) == {operation["id"]: operation["body"]}


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"a": "{ __typename }"}, "every operation needs a name"),
        ({"a": "query A { __typename }", "b": "query A { __typename }"}, "`A` is defined twice"),
        ({"a": "query A { nothing }"}, "`A`: "),
        ({"a": "query A {"}, "Syntax Error"),
        ({"a": "query A { ...Missing }"}, "`A`: "),
        ({"a": "fragment F on Query { __typename }"}, "no operation"),
    ],
)
def test_what_cannot_run_is_reported_and_nothing_is_written(tmp_path: Path, files: dict[str, str], words: str) -> None:
    with pytest.raises(BadUserInput, match=words):
        made(tmp_path, **files)


def test_a_file_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BadUserInput, match="cannot be read"):
        make_manifest([tmp_path / "none.graphql"], DOCUMENTS)
