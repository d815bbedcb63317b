"""The files of this repository: fresh, explained, clean, and short enough."""

import json
from pathlib import Path

import pytest

from gateway.demo import MODEL
from gateway.iam.language.document import parse
from gateway.iam.policies.deployment import LONGEST, render
from gateway.iam.policies.generate import LIMITS, STREAM_FILE, documents, kind_of, lengths, oversized
from gateway.iam.policies.lint import lint
from gateway.iam.policies.review import review
from gateway.ops.policies.files import README, load_policies, stale_policies
from gateway.ops.policies.readme import about, words
from tests.policies.fixtures import SHIPPED

DIRECTORY = Path(__file__).parents[2] / "policies"


def test_the_files_are_what_the_model_says() -> None:
    assert stale_policies(DIRECTORY, MODEL) == []
    assert set(load_policies(DIRECTORY, MODEL).documents) == set(documents(MODEL))


@pytest.mark.parametrize("name", documents(MODEL))
def test_a_shipped_document_has_no_finding(name: str) -> None:
    document = parse(render(json.loads((DIRECTORY / name).read_text()), LONGEST), kind_of(name))
    assert (*lint(document, of_stream=name == STREAM_FILE), *review(document, of_stream=name == STREAM_FILE)) == ()


@pytest.mark.parametrize("name", documents(MODEL))
def test_every_statement_has_a_name_and_is_explained(name: str) -> None:
    sids = [clause["Sid"] for clause in SHIPPED[name]["Statement"]]
    assert len(set(sids)) == len(sids)
    assert all(words(name, sid) for sid in sids)
    section = (DIRECTORY / README).read_text().partition(f"## {name}\n")[2].partition("\n## ")[0]
    assert about(MODEL, name) in section
    for sid in sids:
        assert f"**{sid}**" in section


def test_every_document_fits_with_the_longest_names() -> None:
    assert len(LONGEST.table) == 255
    assert oversized(SHIPPED, LONGEST) == []
    assert max(length for name, length in lengths(SHIPPED, LONGEST).items() if kind_of(name) == "session") < 2_048
    assert LIMITS["session"] == 2_048


def test_the_files_hold_no_value_of_a_deployment() -> None:
    text = "".join((DIRECTORY / name).read_text() for name in documents(MODEL))
    assert "arn:aws:" not in text
    assert not any(word.isdigit() and len(word) == 12 for word in text.replace(":", " ").split())
