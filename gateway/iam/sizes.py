"""How long a rendered document may be: the quotas of AWS for each kind."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.iam.deployment import Deployment, render
from gateway.iam.generate import KINDS
from gateway.iam.statement import Kind
from gateway.iam.wording import SESSION_LIMIT, canonical

LIMITS: Final[Mapping[Kind, int]] = {
    "identity": 10_240,  # all inline policies of a role together
    "trust": 2_048,
    "boundary": 6_144,  # a managed policy
    "session": SESSION_LIMIT,
    "endpoint": 20_480,
}


def lengths(documents: Mapping[str, Mapping[str, Any]], deployment: Deployment) -> dict[str, int]:
    """Characters of each document as it is sent: rendered, without white space."""
    return {name: len(canonical(render(document, deployment))) for name, document in documents.items()}


def oversized(documents: Mapping[str, Mapping[str, Any]], deployment: Deployment) -> list[str]:
    """One line for each document that AWS would refuse for its length."""
    return [
        f"{name} has {length} characters in this deployment, AWS takes {LIMITS[KINDS[name]]}"
        for name, length in lengths(documents, deployment).items()
        if length > LIMITS[KINDS[name]]
    ]
