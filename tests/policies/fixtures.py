"""The shipped policies in one deployment, and each layer of them alone."""

from collections.abc import Mapping
from typing import Any

from gateway.demo import MODEL
from gateway.iam.language.document import PolicyDocument, parse
from gateway.iam.language.evaluator import PolicySet
from gateway.iam.language.grammar import Kind
from gateway.iam.policies.deployment import Deployment, render
from gateway.iam.policies.generate import documents, kind_of
from gateway.iam.policies.roles import roles_of

ACCOUNT, REGION, NAME = "123456789012", "eu-west-1", "shop-table"
TENANT_ROLE = f"arn:aws:iam::{ACCOUNT}:role/gateway-tenant"
GATEWAY_ROLE = f"arn:aws:iam::{ACCOUNT}:role/gateway"
DEPLOYMENT = Deployment("aws", REGION, ACCOUNT, NAME, TENANT_ROLE, GATEWAY_ROLE, f"{NAME}-files")
TABLE = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{NAME}"
INDEXES = tuple(f"{TABLE}/index/{index.name}" for index in MODEL.table.indexes)
SHIPPED: Mapping[str, Mapping[str, Any]] = documents(MODEL)
ROLE = {role.name: role for role in roles_of(MODEL)}


def everything(kind: Kind) -> PolicyDocument:
    statement = {"Sid": "Everything", "Effect": "Allow", "Action": "*", "Resource": "*"}
    return parse({"Version": "2012-10-17", "Statement": [statement]}, kind)


EVERYTHING = everything("identity")


def rendered(name: str, document: Mapping[str, Any] | None = None) -> PolicyDocument:
    return parse(render(document or SHIPPED[name], DEPLOYMENT), kind_of(name))


def alone(document: PolicyDocument) -> PolicySet:
    """The document as the only one of its layer that restricts: the other layers allow everything."""
    match document.kind:
        case "session":
            return PolicySet((EVERYTHING,), (document,))
        case "boundary":
            return PolicySet((EVERYTHING,), None, document)
    return PolicySet((document,))
