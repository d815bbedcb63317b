"""The parser takes what it understands and names what it does not."""

import json
from typing import Any

import pytest

from gateway.iam.language.document import parse, read
from gateway.iam.language.errors import PolicyError
from gateway.iam.language.grammar import Condition, Kind

ARN = "arn:aws:dynamodb:eu-west-1:123456789012:table/orders"
CALLER = {"AWS": "arn:aws:iam::123456789012:role/gateway"}
KINDS: tuple[Kind, ...] = ("identity", "session", "boundary", "trust", "endpoint")


def statement(kind: Kind = "identity", **more: Any) -> dict[str, Any]:
    raw: dict[str, Any] = {"Effect": "Allow", "Action": "dynamodb:GetItem"}
    if kind in ("trust", "endpoint"):
        raw["Principal"] = CALLER
    if kind != "trust":
        raw["Resource"] = ARN
    return {key: value for key, value in (raw | more).items() if value is not None}


def document(*statements: Any, **more: Any) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": list(statements), **more}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_document_parses(kind: Kind) -> None:
    parsed = parse(document(statement(kind, Sid="One")), kind)
    assert (parsed.kind, [made.label for made in parsed.statements]) == (kind, ["One"])
    assert bool(parsed.statements[0].principals) is (kind in ("trust", "endpoint"))
    assert bool(parsed.statements[0].resources) is (kind != "trust")


def test_a_statement_is_read_in_all_its_parts() -> None:
    condition = {"Bool": {"aws:SecureTransport": True}, "NumericLessThan": {"aws:MultiFactorAuthAge": [1, 2.5, "3"]}}
    raw = statement(Effect="Deny", Action=None, NotAction=["s3:*"], Resource=None, NotResource=ARN, Condition=condition)
    made = parse(json.dumps(document(raw)), "identity").statements[0]
    assert (made.label, made.effect, made.actions, made.excludes_actions) == ("#1", "Deny", ("s3:*",), True)
    assert (made.resources, made.excludes_resources) == ((ARN,), True)
    assert made.conditions == (
        Condition("Bool", "aws:SecureTransport", ("true",)),
        Condition("NumericLessThan", "aws:MultiFactorAuthAge", ("1", "2.5", "3")),
    )


def test_a_single_statement_need_not_be_a_list() -> None:
    assert len(parse({"Version": "2012-10-17", "Statement": statement()}, "identity").statements) == 1


def test_the_old_version_and_none_are_read_without_variables() -> None:
    assert not parse({"Statement": statement()}, "identity").has_variables
    assert not parse({"Version": "2008-10-17", "Statement": statement()}, "identity").has_variables
    assert parse(document(statement()), "identity").has_variables


def test_an_unterminated_variable_is_taken_as_text() -> None:
    row = {"StringEquals": {"aws:userid": "${aws:userid"}}
    assert parse(document(statement(Condition=row)), "identity").statements[0].conditions[0].values == ("${aws:userid",)


def test_a_fingerprint_does_not_depend_on_layout() -> None:
    raw = document(statement())
    assert parse(raw, "identity").fingerprint == parse(json.dumps(raw, indent=4), "identity").fingerprint
    assert parse(raw, "identity").fingerprint != parse(document(statement(Sid="A")), "identity").fingerprint


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "not JSON"),
        ("[]", "a policy must be a JSON object"),
        ("null", "a policy must be a JSON object"),
        ('{"Version": NaN}', "`NaN` is not a JSON number"),
        ('{"Version": -Infinity}', "`-Infinity` is not a JSON number"),
        ('{"Version": 1e999}', "out of range"),
        ('{"Version": "2012-10-17", "Version": "2012-10-17"}', "key `Version` occurs twice"),
        ('{"Statement": {"Effect": "Deny", "Effect": "Allow"}}', "key `Effect` occurs twice"),
        ("[" * 100_000, "not JSON"),
        ('{"Statement": "' + "x" * 140_000 + '"}', "at most 131072 characters"),
        ('{"Id": "\u4e2d"}', "U\\+4E2D"),
        ('{"Version": "2012-10-17", "Statement": {"Sid": "\\u4e2d"}}', "U\\+4E2D"),
        ('{"Version": "2012-10-17", "Statement": {"Sid": "\\u0000"}}', "U\\+0000"),
        ('{"Version": "2012-10-17", "Statement": {"Resource": ["a\\u0000b"]}}', "U\\+0000"),
        ('{"Version": "2012-10-17", "Statement": {"Condition": {"Null": {"a:b\\u001f": "true"}}}}', "U\\+001F"),
        ("{}", "Statement must be an object or a list"),
    ],
)
def test_a_text_that_is_no_policy_is_refused(text: str, fault: str) -> None:
    with pytest.raises(PolicyError, match=fault):
        parse(text, "identity")


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        (document(), "Statement must be an object or a list of objects, and not empty"),
        ({"Version": "2012-10-17", "Statement": {}}, "Statement must be an object or a list of objects, and not empty"),
        ({"Version": "2012-10-17", "Statement": "Allow"}, "Statement must be an object"),
        (document("Allow"), "statement #1: not an object"),
        (document(statement(), Version="2012-10-18"), "Version must be `2012-10-17`"),
        (document(statement(), Version=["2012-10-17"]), "Version must be `2012-10-17`"),
        (document(statement(), Id="x"), "unknown key `Id` at the top"),
        (document(statement(), Comment="x"), "unknown key `Comment` at the top"),
        (document(statement(), {**statement(), "Sid": 1}), "statement #2: Sid"),
        (document(statement(Sid="a b")), "statement #1: Sid"),
        (document(statement(Sid="A"), statement(Sid="A")), "statement `A`: its Sid is used twice"),
        (document({"a": {1, 2}}), "not JSON"),
    ],
)
def test_a_document_with_a_fault_at_its_top_is_refused(raw: dict[str, Any], fault: str) -> None:
    with pytest.raises(PolicyError, match=fault):
        parse(raw, "identity")


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ({"Effect": "allow"}, "Effect must be `Allow` or `Deny`"),
        ({"Effect": None}, "Effect must be"),
        ({"Effect": ["Allow"]}, "Effect must be"),
        ({"Action": None}, "either Action or NotAction"),
        ({"NotAction": "s3:*"}, "either Action or NotAction"),
        ({"Resource": None}, "either Resource or NotResource"),
        ({"NotResource": ARN}, "either Resource or NotResource"),
        ({"Principal": "*"}, "Principal is not allowed in kind identity"),
        ({"NotPrincipal": "*"}, "NotPrincipal is not supported"),
        ({"Conditions": {}}, "unknown key `Conditions`"),
        ({"Action": []}, "Action must be a string or a list of strings, and not empty"),
        ({"Action": [7]}, "Action contains a value that is not a string"),
        ({"Action": {"dynamodb": "GetItem"}}, "Action must be a string or a list of strings"),
        ({"Action": "GetItem"}, "action `GetItem` is neither"),
        ({"Action": "*:GetItem"}, "is neither `\\*` nor `service:Name`"),
        ({"Action": "dynamodb:Get Item"}, "is neither"),
        ({"Action": "dynamodb:${aws:userid}"}, "is neither"),
        ({"Action": "dynamodb:GetItem\n"}, "is neither"),
        ({"Resource": "table/orders"}, "is neither `\\*` nor an ARN of six parts"),
        ({"Resource": "arn:aws:dynamodb:*"}, "nor an ARN of six parts"),
        ({"Resource": "arn:aws:dynamodb:a:1:"}, "nor an ARN of six parts"),
        ({"Resource": "arn:aws:*:a:1:table/x"}, "wildcard for its service"),
        ({"Resource": "arn:aws:dynamodb:${aws:RequestedRegion}:1:table/x"}, "variable outside its last part"),
        ({"Resource": ARN + "/${}"}, "malformed variable"),
        ({"Condition": {}}, "Condition must be an object of operators, and not empty"),
        ({"Condition": []}, "Condition must be an object"),
        ({"Condition": {"StringEquals": {}}}, "operator `StringEquals` must hold an object of keys, and not empty"),
        ({"Condition": {"StringEquals": "x"}}, "operator `StringEquals` must hold an object"),
        ({"Condition": {"StringEquals": {"aws:userid": []}}}, "key `aws:userid`: no value"),
        ({"Condition": {"StringEquals": {"aws:userid": None}}}, "a value must be a string, a number or a boolean"),
        ({"Condition": {"StringEquals": {"aws:userid": [["x"]]}}}, "a value must be a string"),
        ({"Condition": {"StringEquals": {"userid": "x"}}}, "`userid` is not a condition key"),
        ({"Condition": {"StringEquals": {"aws:userid": "a", "AWS:userid": "b"}}}, "names a key twice"),
        ({"Condition": {"StringSimilar": {"aws:userid": "x"}}}, "unknown operator `StringSimilar`"),
        ({"Condition": {"ForSome:StringEquals": {"aws:userid": "x"}}}, "unknown operator `ForSome:StringEquals`"),
        ({"Condition": {"NullIfExists": {"aws:userid": "true"}}}, "unknown operator `NullIfExists`"),
        ({"Condition": {"ForAllValues:Null": {"aws:userid": "true"}}}, "unknown operator"),
        ({"Condition": {"NumericEquals": {"aws:userid": "ten"}}}, "wrong value `ten`"),
        ({"Condition": {"NumericEquals": {"aws:userid": "${aws:userid}"}}}, "wrong value"),
        ({"Condition": {"ArnLike": {"aws:PrincipalArn": "arn:aws"}}}, "not an ARN of six parts"),
        ({"Condition": {"StringEquals": {"aws:userid": "${a b, c}"}}}, "malformed variable"),
    ],
)
def test_a_statement_with_a_fault_is_refused_by_its_name(more: dict[str, Any], fault: str) -> None:
    with pytest.raises(PolicyError, match=fault) as caught:
        parse(document(statement(Sid="Good"), statement(Sid="Bad", **more)), "identity")
    assert "statement `Bad`" in caught.value.message


@pytest.mark.parametrize(
    ("kind", "more", "fault"),
    [
        ("trust", {"Principal": None}, "Principal is missing in kind trust"),
        ("endpoint", {"Principal": None}, "Principal is missing in kind endpoint"),
        ("trust", {"Resource": "*"}, "Resource is not allowed in kind trust"),
        ("trust", {"NotResource": "*"}, "Resource is not allowed in kind trust"),
        ("endpoint", {"Resource": None}, "either Resource"),
        ("trust", {"Principal": {}}, "Principal must be `\\*` or an object"),
        ("trust", {"Principal": "arn:aws:iam::1:root"}, "Principal must be `\\*` or an object"),
        ("trust", {"Principal": {"Nobody": "x"}}, "unknown principal type `Nobody`"),
        ("trust", {"Principal": {"AWS": []}}, "Principal must be a string or a list"),
        ("trust", {"Principal": {"AWS": "arn:aws:iam::1:role/*"}}, "has a wildcard or a variable"),
        ("trust", {"NotPrincipal": CALLER}, "NotPrincipal is not supported"),
        ("session", {"Principal": CALLER}, "Principal is not allowed in kind session"),
        ("boundary", {"Principal": CALLER}, "Principal is not allowed in kind boundary"),
    ],
)
def test_each_kind_has_its_own_keys(kind: Kind, more: dict[str, Any], fault: str) -> None:
    raw = statement(kind)
    for key, value in more.items():
        if value is None:
            del raw[key]
        else:
            raw[key] = value
    with pytest.raises(PolicyError, match=fault):
        parse(document(raw), kind)


def test_principals_are_read_with_their_types() -> None:
    raw = statement("trust", Principal={"AWS": ["123456789012", "*"], "Service": "ecs.amazonaws.com"})
    found = parse(document(raw, Id="trust"), "trust").statements[0].principals
    assert found == (("AWS", "123456789012"), ("AWS", "*"), ("Service", "ecs.amazonaws.com"))
    everybody = parse(document(statement("endpoint", Principal="*")), "endpoint").statements[0].principals
    assert everybody == (("AWS", "*"),)


def test_an_id_is_a_text() -> None:
    with pytest.raises(PolicyError, match="Id must be a string"):
        parse(document(statement("trust"), Id=7), "trust")


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(PolicyError, match="unknown kind of document `resource`"):
        parse(document(statement()), "resource")  # type: ignore[arg-type]  # resource policies are refused by design


def test_reading_by_grammar_alone_keeps_what_is_not_understood() -> None:
    raw = document(statement(Condition={"StringSimilar": {"aws:userid": "x"}}))
    assert read(raw, "identity").statements[0].conditions == (Condition("StringSimilar", "aws:userid", ("x",)),)
