"""The roles of a model as their session policies grant them: actions, partitions, and attributes that stay hidden."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from gateway.iam.dynamodb.shared_permissions import RoleRows
from gateway.iam.policies.hidden_data import hidden_partitions, partition_pattern
from gateway.model.files.reach import file_paths, file_reach
from gateway.model.model import Model
from gateway.model.role import ALL, Role
from gateway.model.role_reach import (
    IDEMPOTENCY,
    SUBJECT,
    UNIQUE,
    Find,
    Partitions,
    RoleReach,
    closed_paths,
    found_attributes,
    hidden_attributes,
    pattern_places,
    reach,
    visible_patterns,
)

READS: Final = ("BatchGetItem", "GetItem", "Query")
WRITES: Final = ("BatchWriteItem", "ConditionCheckItem", "DeleteItem", "PutItem", "UpdateItem")
CHANGES: Final = ("ConditionCheckItem", "PutItem", "UpdateItem")
"""Writes that remove nothing. BatchWriteItem can remove items, and IAM does not see whether it puts or deletes."""
REMOVALS: Final = ("BatchWriteItem", "DeleteItem")
RETURNING: Final = ("ConditionCheckItem", "DeleteItem", "PutItem", "UpdateItem")
"""Writes that can return the item."""
ITEM_ACTIONS: Final = tuple(sorted((*READS, *WRITES)))
"""All DynamoDB actions that any policy grants; each of them has LeadingKeys."""


FILE_ACTIONS: Final = ("s3:GetObject", "s3:PutObject", "s3:PutObjectTagging")
"""All S3 actions that any policy grants, only for models with files. None of them deletes: a tag marks objects that
the bucket's lifecycle removes."""


@dataclass(frozen=True, slots=True)
class FileGrant:
    """Actions on the files below these paths; no paths: on all files of the tenant."""

    actions: tuple[str, ...]
    paths: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Grant:
    """Actions on some partitions of the table (`index` is None) or of one index; no paths: on all of the tenant's."""

    actions: tuple[str, ...]
    index: str | None = None
    paths: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class GatewayRole:
    """`hidden` are attributes that the role never reads, `hidden_paths` partitions whose keys contain one of them."""

    name: str
    description: str
    grants: tuple[Grant, ...]
    hidden: tuple[str, ...] = ()
    hidden_paths: tuple[str, ...] = ()
    own: bool = False
    closed: tuple[str, ...] = ()
    """Partitions of confidential entities: nothing is allowed there, whatever is granted."""
    patterns: frozenset[str] = frozenset()
    """The access patterns that it can use."""
    finds: tuple[Find, ...] = ()
    """Partitions with a hidden attribute in their keys, where it may read only an id."""
    acting: bool = False
    """Whether only mutations act in it, and no token carries it."""
    files: tuple[FileGrant, ...] = ()

    @property
    def file_actions(self) -> tuple[str, ...]:
        return tuple(sorted({action for grant in self.files for action in grant.actions}))

    @property
    def actions(self) -> tuple[str, ...]:
        return tuple(sorted({action for grant in self.grants for action in grant.actions}))

    def sample_path(self, action: str, index: str | None = None) -> str | None:
        """A partition, after the tenant's prefix, in which the role may do this; None if there is none.

        Prefers one that is the same for every subject, so that decisions about it can be shared.
        """
        granted = [grant for grant in self.grants if action in grant.actions and grant.index == index]
        if any(grant.paths is None for grant in granted):
            return "ANY"
        paths = [path for grant in granted for path in grant.paths or ()]
        # if a hidden attribute is in the key, the role reads nothing, or only an id
        narrow = {*self.hidden_paths, *(find.path for find in self.finds)}
        best = min(paths, key=lambda path: (path in narrow, SUBJECT in path), default=None)
        return None if best is None else best.replace("*", "ANY")

    @property
    def whole(self) -> bool:
        """Whether its permissions cover every row of the tenant."""
        return all(grant.paths is None for grant in self.grants)


@lru_cache(maxsize=8)
def roles_of(model: Model) -> tuple[GatewayRole, ...]:
    """All roles with a session policy, strongest first, as declared."""
    return tuple(gateway_role(model, role) for role in model.all_roles.values())


def role_names(model: Model) -> tuple[str, ...]:
    return tuple(model.all_roles)


def gateway_role(model: Model, role: Role) -> GatewayRole:
    hidden = hidden_attributes(model, role)
    finds = tuple(_finds(model, role, hidden))
    found_paths = {find.path for find in finds}
    return GatewayRole(
        role.name,
        role.description,
        tuple(_grants(reach(model, role))),
        hidden,
        tuple(path for path in hidden_partitions(model, frozenset(hidden)) if path not in found_paths),
        role.own,
        closed_paths(model, role),
        frozenset(_patterns(model, role, frozenset(hidden))),
        finds,
        role.acting,
        tuple(_file_grants(model, role)),
    )


def _file_grants(model: Model, role: Role) -> Iterator[FileGrant]:
    """One grant for each set of paths with the same actions; a single one if the role reads everything."""
    reached = file_reach(model, role)
    read, write, mark = FILE_ACTIONS
    actions: dict[str, set[str]] = {}
    for paths, granted in ((reached.reads, (read,)), (reached.writes, (write, mark)), (reached.removes, (mark,))):
        for path in paths:
            actions.setdefault(path, set()).update(granted)
    sets = dict.fromkeys(tuple(sorted(names)) for names in actions.values())
    for names in sets:
        alike = tuple(path for path, granted in actions.items() if tuple(sorted(granted)) == names)
        yield FileGrant(names, None if role.reads is ALL and alike == file_paths(model) else alike)


def _finds(model: Model, role: Role, hidden: tuple[str, ...]) -> Iterator[Find]:
    for listing in (model.listing(name) for name in role.finds):
        path = partition_pattern(model.place(listing).pk)
        yield Find(listing.name, path, found_attributes(model, listing, hidden))


def _patterns(model: Model, role: Role, hidden: frozenset[str]) -> Iterator[str]:
    """The patterns whose partition keys contain no hidden attribute, and exact lookups: other such keys are denied."""
    for name in visible_patterns(model, role):
        places = pattern_places(model, model.patterns[name])
        if name in role.finds or not any(place.pk.names & hidden for _, place in places):
            yield name


def _grants(reached: RoleReach) -> list[Grant]:
    """One grant for each set of partitions, on the table or on an index, with everything that may be done there."""
    actions: dict[tuple[str | None, tuple[str, ...] | None], set[str]] = {}
    # markers of unique values are deleted only in transactions
    marks_only = reached.removes is not None and all(removed.path.startswith(UNIQUE) for removed in reached.removes)
    removals = ("DeleteItem",) if marks_only else REMOVALS
    for partitions, granted in ((reached.reads, READS), (reached.writes, CHANGES), (reached.removes, removals)):
        for index, paths in _by_index(partitions):
            allowed = granted if index is None else ("Query",)
            actions.setdefault((index, paths), set()).update(allowed)
    return [Grant(tuple(sorted(names)), index, paths) for (index, paths), names in actions.items()]


def _by_index(partitions: tuple[Partitions, ...] | None) -> list[tuple[str | None, tuple[str, ...] | None]]:
    if partitions is None:
        return [(None, None)]
    indexes = dict.fromkeys(place.index for place in partitions)
    return [(index, tuple(place.path for place in partitions if place.index == index)) for index in indexes]


def owned_partitions(role: GatewayRole) -> RoleRows:
    """What a session of the role needs to know about its rows in addition to its policies."""
    owned = {(grant.index, path) for grant in role.grants for path in grant.paths or () if SUBJECT in path}
    paths = tuple(sorted((entry for entry in owned if not entry[1].startswith(IDEMPOTENCY)), key=str))
    path, index = role.sample_path("GetItem"), None
    if path is None:
        index = next((grant.index for grant in role.grants if "Query" in grant.actions), None)
        path = role.sample_path("Query", index)
    return RoleRows(path or "ANY", paths, index)
