"""Random policies and random requests, quick to make: for comparing two ways to decide them."""

from random import Random
from typing import Any

from gateway.iam.language.document import PolicyDocument, parse
from gateway.iam.language.errors import PolicyError
from gateway.iam.language.grammar import Kind
from gateway.iam.language.operators import OPERATORS
from gateway.iam.language.variables import Value
from gateway.iam.language.verdict import Authorisation

TABLE = "arn:aws:dynamodb:eu-west-1:123456789012:table/orders"
TAG = "aws:PrincipalTag/TenantId"
VARIABLE = "${aws:PrincipalTag/TenantId}"
KEYS = (
    "dynamodb:LeadingKeys",
    "dynamodb:Attributes",
    "dynamodb:Select",
    TAG,
    "aws:SourceIp",
    "AWS:principaltag/tenantid",
)
TEXTS = (
    *("acme", "acme2", "TENANT#acme", "TENANT#acme#", "TENANT#acme#USER#1", "TENANT#globex#1", "TENANT#", "#", "a#b#c"),
    *("1", "2.5", "2.4", "true", "FALSE", "2026-01-01", "2025-12-31T23:59:59Z", "10.0.0.0", "10.1.2.3", "11.0.0.0"),
    *("YWNtZQ==", TABLE, f"{TABLE}/index/GSI1", "arn:aws:iam::123456789012:role/x", "", "\u00e9", "ACME", "x"),
)
VALUES = (
    *TEXTS[:-5],
    *(f"TENANT#{VARIABLE}", f"TENANT#{VARIABLE}#*", f"TENANT#{VARIABLE}*", VARIABLE, "${x:y, 'acme'}", f"*{VARIABLE}"),
    *(
        "*",
        "a?me",
        "TENANT#*#*",
        "TENANT#?cme#*",
        "*#*",
        "T*#acme*",
        "10.0.0.0/8",
        "arn:aws:iam::*:role/*",
        "${*}",
        "${",
    ),
    *("arn:aws:dynamodb:*:*:table/orders*", f"arn:aws:dynamodb:*:*:table/{VARIABLE}"),
)
ACTIONS = ("*", "dynamodb:*", "dynamodb:GetItem", "dynamodb:*Item", "dynamodb:?uery", "s3:*", "dynamodb:Scan")
RESOURCES = ("*", TABLE, f"{TABLE}/index/*", f"{TABLE[:-6]}{VARIABLE}", "arn:aws:s3:::*")


def document(random: Random, kind: Kind) -> PolicyDocument:
    """A policy of any operator and key; one that AWS would not take is thrown away."""
    while True:
        statements = [_statement(random) for _ in range(random.randint(1, 3))]
        version = random.choice(("2012-10-17", "2012-10-17", "2012-10-17", "2008-10-17"))
        try:
            return parse({"Version": version, "Statement": statements}, kind)
        except PolicyError:
            continue


def request(random: Random) -> Authorisation:
    context: dict[str, Value] = {}
    for key in KEYS[:-1]:
        shape = random.random()
        if shape < 0.35:
            context[key] = random.choice(TEXTS)
        elif shape < 0.75:
            context[key] = tuple(dict.fromkeys(random.choices(TEXTS, k=random.randint(0, 3))))
    actions = ("dynamodb:GetItem", "dynamodb:Query", "dynamodb:Scan", "s3:GetObject", "DynamoDB:getitem")
    resources = (TABLE, f"{TABLE}/index/GSI1", "*", "arn:aws:s3:::bucket", "nonsense", f"{TABLE[:-6]}acme")
    return Authorisation(random.choice(actions), random.choice(resources), context)


def _statement(random: Random) -> dict[str, Any]:
    actions, resources = (random.choice(("", "", "", "Not")) for _ in range(2))
    made: dict[str, Any] = {
        "Effect": random.choice(("Allow", "Allow", "Deny")),
        f"{actions}Action": random.sample(ACTIONS, random.randint(1, 2)),
        f"{resources}Resource": random.sample(RESOURCES, random.randint(1, 2)),
    }
    rows = {_operator(random): {random.choice(KEYS): _values(random)} for _ in range(random.randint(0, 2))}
    return {**made, "Condition": rows} if rows else made


def _values(random: Random) -> list[str]:
    return random.sample(VALUES, random.randint(1, 3))


def _operator(random: Random) -> str:
    prefix = random.choice(("", "", "ForAllValues:", "ForAnyValue:"))
    return f"{prefix}{random.choice(tuple(OPERATORS))}{random.choice(('', '', 'IfExists'))}"
