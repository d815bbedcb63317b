"""Chooses a read of the table and of each index that some role of the model may make."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gateway.iam.policies.roles import GatewayRole, roles_of
from gateway.model.model import Model
from gateway.model.role_reach import SUBJECT

READINESS_SUBJECT: Final = "readiness"
_ABSENT: Final = "READINESS"  # a partition that no item has


@dataclass(frozen=True, slots=True)
class SampleRead:
    """A partition, after the tenant's prefix, that the role may read; `index` is None for the table itself."""

    role: str
    index: str | None
    path: str


def sample_reads(model: Model) -> tuple[SampleRead, ...]:
    """The table comes first. An index that no role reads is left out."""
    # weakest first, those that read everything before others, so that one session is enough where it can be
    callers = [role for role in reversed(roles_of(model)) if not role.acting]
    callers.sort(key=lambda role: not _reads_everything(role))
    places = (None, *(index.name for index in model.table.indexes))
    return tuple(read for place in places if (read := next(_reads(callers, place), None)) is not None)


def _reads(roles: list[GatewayRole], index: str | None) -> Iterator[SampleRead]:
    for role in roles:
        if _reads_everything(role):
            yield SampleRead(role.name, index, _ABSENT)
        elif (path := role.sample_path("GetItem" if index is None else "Query", index)) is not None:
            yield SampleRead(role.name, index, path.replace(SUBJECT, READINESS_SUBJECT))


def _reads_everything(role: GatewayRole) -> bool:
    return any("GetItem" in grant.actions and grant.paths is None for grant in role.grants)
