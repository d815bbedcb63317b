"""A document that AWS would refuse for its length is found before AWS sees it."""

from gateway.demo import MODEL
from gateway.iam.policies.deployment import LONGEST
from gateway.iam.policies.generate import LIMITS, documents, lengths, oversized


def test_lengths_are_those_of_the_text_that_is_sent() -> None:
    made = {"session-viewer.json": {"Version": "2012-10-17", "Statement": []}}
    assert lengths(made, LONGEST) == {"session-viewer.json": len('{"Statement":[],"Version":"2012-10-17"}')}


def test_a_session_policy_beyond_the_limit_is_named() -> None:
    made = documents(MODEL)
    assert oversized(made, LONGEST) == []
    clause = made["session-support.json"]["Statement"][3]
    clause["Condition"]["ForAnyValue:StringEquals"]["dynamodb:Attributes"] = [f"attribute{n}" for n in range(200)]
    (line,) = oversized(made, LONGEST)
    assert line.startswith("session-support.json has ")
    assert str(LIMITS["session"]) in line
