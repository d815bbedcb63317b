"""Live policies as documents of the evaluator; one that it does not understand is a fault, never ignored."""

from collections.abc import Mapping
from typing import Any

from gateway.iam.language.document import PolicyDocument, parse
from gateway.iam.language.errors import PolicyError
from gateway.iam.language.evaluator import PolicySet
from gateway.iam.language.grammar import Kind
from gateway.ops.audit.facts import RoleFacts, Statements


def read_document(name: str, statements: Statements, kind: Kind) -> tuple[PolicyDocument | None, str | None]:
    """The document, or what is wrong with it."""
    try:
        return parse(statements, kind), None
    except PolicyError as error:
        return None, f"policy `{name}` is not understood: {error.message}"


def statements_of(policy: Statements) -> list[Mapping[str, Any]]:
    listed = policy.get("Statement", [])
    return [
        statement for statement in (listed if isinstance(listed, list) else [listed]) if isinstance(statement, dict)
    ]


def role_policies(role: RoleFacts) -> tuple[PolicySet, list[str]]:
    """The policies of a role as far as they are understood, and the faults of the others."""
    read = [read_document(name, statements, "identity") for name, statements in sorted(role.policies.items())]
    boundary, fault = (
        (None, None) if role.boundary is None else read_document("permissions boundary", role.boundary, "boundary")
    )
    policies = PolicySet(tuple(document for document, _ in read if document), boundary=boundary)
    return policies, [reason for reason in (*(reason for _, reason in read), fault) if reason]
