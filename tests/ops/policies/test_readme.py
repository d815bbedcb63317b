"""The README tells an auditor what the documents say, what they cannot do, and where personal data shows."""

from gateway.demo import MODEL
from gateway.iam.policies.generate import documents
from gateway.iam.policies.hidden_data import personal_attributes
from gateway.ops.policies.readme import page
from tests.model.build import model, thing


def test_every_file_and_every_statement_is_on_the_page() -> None:
    text = page(MODEL)
    for name, document in documents(MODEL).items():
        assert f"## {name}\n" in text
        for clause in document["Statement"]:
            assert f"- **{clause['Sid']}** ({clause['Effect']}). " in text


def test_personal_attributes_and_the_keys_that_show_them_are_listed() -> None:
    text = page(MODEL)
    for name in personal_attributes(MODEL):
        assert f"`{name}`" in text.partition("Hidden from `support`:")[2]
    assert "| Email | `email` | `EMAIL#{email}` | `GSI1PK` |" in text


def test_a_model_without_personal_attributes_says_so() -> None:
    text = page(model(thing()))
    assert "Hidden from `support`: none." in text
    assert "| entity | attribute |" not in text


def test_the_limits_are_named() -> None:
    text = page(MODEL)
    for limit in ("index poisoning", "Resource policies", "DAX", "Keys that show personal attributes"):
        assert limit in text
