"""Live policies as documents of the evaluator; one that it does not understand is a fault, never ignored."""

from gateway.iam.language.document import PolicyDocument, parse
from gateway.iam.language.errors import PolicyError
from gateway.iam.language.grammar import Kind
from gateway.ops.audit.facts import RoleFacts, Statements


def read_document(name: str, statements: Statements, kind: Kind) -> tuple[PolicyDocument | None, str | None]:
    """The document, or what is wrong with it."""
    try:
        return parse(statements, kind), None
    except PolicyError as error:
        return None, f"policy `{name}` is not understood: {error.message}"


def identity_documents(role: RoleFacts) -> tuple[tuple[PolicyDocument, ...], list[str]]:
    read = [read_document(name, statements, "identity") for name, statements in sorted(role.policies.items())]
    return tuple(document for document, _ in read if document), [fault for _, fault in read if fault]


def boundary_document(role: RoleFacts) -> tuple[PolicyDocument | None, str | None]:
    if role.boundary is None:
        return None, None
    return read_document("permissions boundary", role.boundary, "boundary")
