"""The limits on a document and on the variables that come with it."""

from dataclasses import dataclass
from typing import Any

from gateway.errors import LimitExceeded


@dataclass(frozen=True, slots=True)
class DocumentLimits:
    depth: int = 12
    aliases: int = 50
    root_fields: int = 50
    fields: int = 2_000
    directives: int = 50
    tokens: int = 5_000
    members: int = 1_000  # of one list or object in the variables
    values: int = 20_000  # in all variables together


def check_variables(variables: dict[str, Any], limits: DocumentLimits) -> None:
    """Before they are coerced: graphql-core would word an error for each of a million wrong values."""
    pending: list[Any] = [variables]
    values = 0
    while pending:
        value = pending.pop()
        if not isinstance(value, list | dict):
            continue
        values += len(value)
        if len(value) > limits.members:
            raise LimitExceeded(f"a variable has {len(value)} members, at most {limits.members} are allowed")
        if values > limits.values:
            raise LimitExceeded(f"the variables have more than {limits.values} values")
        pending.extend(value if isinstance(value, list) else value.values())
