"""Attacks on another tenant's rows, derived from the model as requests in wire form: AWS must refuse them.

They are sent below the gateway's own checks. Writes have a condition that no item meets, and operations on tables
name one that does not exist, so a probe that finds a gap does no harm.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from gateway.iam.dynamodb import sample_requests
from gateway.iam.dynamodb.sample_requests import Body
from gateway.iam.policies.deployment import Deployment
from gateway.iam.policies.pattern_requests import SAMPLE_SUBJECT, questions, transaction
from gateway.iam.policies.roles import GatewayRole
from gateway.model.keys import ItemKey
from gateway.model.model import Model
from gateway.model.mutation import Mutation
from gateway.model.role import Role
from gateway.model.role_reach import SUBJECT, holds_owner
from gateway.model.tenant import TenantId, partition

Write = Callable[[Body, Body], Body]
Expected = Literal["allowed", "denied", "harmless"]

_MANY: Final = 100
_SK: Final = "ISOLATION#PROBE"
_OTHERS: Final[Mapping[str, str]] = {
    "another subject": "somebody-else",
    "a longer id with the same beginning": f"{SAMPLE_SUBJECT}2",
    "a shorter id with the same beginning": SAMPLE_SUBJECT[:-1],
}
_FORGED: Final[Mapping[str, str]] = {
    **_OTHERS,
    "an asterisk for the id": "*",
    "a policy variable for the id": "${aws:PrincipalTag/Subject}",
}
_TRANSACTION: Final = "TransactWriteItems"


@dataclass(frozen=True, slots=True)
class Probe:
    """`harmless`: IAM cannot decide it, so any result is right that reveals nothing of another tenant."""

    group: str
    name: str
    operation: str
    body: Mapping[str, Any]
    expected: Expected = "denied"


@dataclass(frozen=True, slots=True)
class ProbeScene:
    """A session of `tenant` in `role`, and the tenant whose rows it must not reach; `rows` are some that exist."""

    model: Model
    deployment: Deployment
    tenant: TenantId
    role: GatewayRole
    victim: TenantId
    rows: tuple[ItemKey, ...] = ()

    @property
    def table(self) -> str:
        return self.deployment.table

    @property
    def keys_only(self) -> tuple[str, ...]:
        return self.model.table.pk, self.model.table.sk

    def item(self, pk: str, sk: str = _SK) -> Body:
        return sample_requests.key(self.model.table, pk, sk)

    def own(self, action: str = "GetItem", sk: str = _SK) -> Body:
        return self.item(partition(self.tenant, self.own_path(action)), sk)

    def own_path(self, action: str) -> str:
        """A partition in which the role may do this, or any other if there is none."""
        path = self.role.sample_path(action)
        return "ISOLATION" if path in (None, "ANY") else str(path).replace(SUBJECT, SAMPLE_SUBJECT)

    def foreign(self, path: str = "ISOLATION") -> Body:
        return self.item(partition(self.victim, path))


def pattern_probes(scene: ProbeScene) -> Iterator[Probe]:
    """Every access pattern with the other tenant's keys, and with the session's own as a control."""
    spec, table, few = scene.model.table, scene.table, scene.keys_only
    for request in questions(scene.model, scene.victim):
        name = f"{request.pattern} by {request.operation} on {request.index or 'the table'}"
        yield Probe("patterns", name, request.operation, request.body(spec, table, few))
        yield Probe("patterns", f"{name}, whole items", request.operation, request.body(spec, table))
    own = questions(scene.model, scene.tenant)
    # two patterns can read the same place, such as a list whose index does not carry whole items
    open_to = {
        (own_request.operation, own_request.index, own_request.key)
        for own_request in own
        if own_request.pattern in scene.role.patterns
    }
    for request in own:
        name = f"own {request.pattern} by {request.operation} on {request.index or 'the table'}"
        expected: Expected = "allowed" if (request.operation, request.index, request.key) in open_to else "denied"
        yield Probe("controls", name, request.operation, request.body(spec, table, few), expected)


def subject_probes(scene: ProbeScene) -> Iterator[Probe]:
    """Each place of a role's own rows with the keys of another subject of the same tenant, read and written."""
    table, spec, few = scene.table, scene.model.table, scene.keys_only
    guard = sample_requests.guarded(spec)
    owned = {(grant.index, path) for grant in scene.role.grants for path in grant.paths or () if SUBJECT in path}
    for index, path in sorted(owned, key=str):
        for name, subject in _FORGED.items():
            pk = partition(scene.tenant, path.replace(SUBJECT, subject).replace("*", "ANY"))
            where = f"{path} of {name} on {index or 'the table'}"
            yield Probe("subjects", f"Query, {where}", "Query", sample_requests.query(table, spec, pk, few, index))
            if index is not None:
                continue
            item = scene.item(pk)
            yield Probe("subjects", f"GetItem, {where}", "GetItem", sample_requests.get(table, item, few))
            yield Probe("subjects", f"PutItem, {where}", "PutItem", sample_requests.put(table, item, guard))
            yield Probe("subjects", f"DeleteItem, {where}", "DeleteItem", sample_requests.delete(table, item, guard))
            update = sample_requests.update(table, item, spec.version, guard)
            yield Probe("subjects", f"UpdateItem, {where}", "UpdateItem", update)


def row_probes(scene: ProbeScene) -> Iterator[Probe]:
    """Rows that the other tenant really has: a request that succeeds would show its marker."""
    table, spec = scene.table, scene.model.table
    for key in scene.rows:
        item = scene.item(key.pk, key.sk)
        yield Probe("rows", f"GetItem of {key.sk}", "GetItem", sample_requests.get(table, item))
        yield Probe("rows", f"Query of the partition of {key.sk}", "Query", sample_requests.query(table, spec, key.pk))
        pair = sample_requests.batch_get(table, [scene.own(), item])
        yield Probe("rows", f"BatchGetItem, own and {key.sk}", "BatchGetItem", pair)


def key_probes(scene: ProbeScene) -> Iterator[Probe]:
    """Keys that resemble the session's own."""
    few, table, spec = scene.keys_only, scene.table, scene.model.table
    for name, pk in forged_keys(scene.tenant, scene.victim).items():
        yield Probe("keys", f"GetItem, {name}", "GetItem", sample_requests.get(table, scene.item(pk), few))
        yield Probe("keys", f"Query, {name}", "Query", sample_requests.query(table, spec, pk, few))
        for index in spec.indexes:
            body = sample_requests.query(table, spec, pk, few, index.name)
            yield Probe("keys", f"Query on {index.name}, {name}", "Query", body)
    own = [scene.own("BatchGetItem", f"{_SK}#{number}") for number in range(_MANY - 1)]
    mixed = sample_requests.batch_get(table, [*own, scene.foreign()], few)
    yield Probe("keys", "BatchGetItem of 100 keys, the last one foreign", "BatchGetItem", mixed)
    pair = [scene.own(), scene.foreign()]
    yield Probe("keys", "BatchGetItem, own and foreign", "BatchGetItem", sample_requests.batch_get(table, pair, few))
    yield Probe(
        "keys", "TransactGetItems, own and foreign", "TransactGetItems", sample_requests.transact_get(table, pair, few)
    )


def forged_keys(tenant: TenantId, victim: TenantId) -> dict[str, str]:
    return {
        "the other tenant's partition": partition(victim, "USER#1"),
        "the other tenant's bare partition": partition(victim, "").removesuffix("#"),
        "a longer id with the same beginning": partition(TenantId(f"{tenant}2"), "USER#1"),
        "a longer id without separator": f"TENANT#{tenant}USER#1",
        "a shorter id with the same beginning": partition(TenantId(tenant[:-1]), "USER#1"),
        "an id behind a separator": f"TENANT##{tenant}#USER#1",
        "an asterisk for the id": partition(TenantId("*"), "USER#1"),
        "a question mark in the id": partition(TenantId(tenant[:-1] + "?"), "USER#1"),
        "a policy variable for the id": partition(TenantId("${aws:PrincipalTag/TenantId}"), "USER#1"),
        "the id in capitals": partition(TenantId(tenant.upper()), "USER#1"),
        "the prefix in small letters": f"tenant#{tenant}#USER#1",
        "a space before the prefix": f" TENANT#{tenant}#USER#1",
        "no tenant at all": "USER#1",
    }


def write_probes(scene: ProbeScene) -> Iterator[Probe]:
    """Writes to the other tenant's partition, alone and mixed with own rows; none of them could change an item."""
    table, spec = scene.table, scene.model.table
    guard = sample_requests.guarded(spec)
    loud = {**guard, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    own, foreign = scene.own("PutItem"), scene.foreign()
    attribute = spec.version
    singles: dict[str, tuple[str, Write]] = {
        "PutItem": ("Put", lambda item, more: sample_requests.put(table, item, more)),
        "UpdateItem": ("Update", lambda item, more: sample_requests.update(table, item, attribute, more)),
        "DeleteItem": ("Delete", lambda item, more: sample_requests.delete(table, item, more)),
        "ConditionCheckItem": ("ConditionCheck", lambda item, more: sample_requests.delete(table, item, more)),
    }
    for action, (kind, make) in singles.items():
        if action != "ConditionCheckItem":
            yield Probe("writes", f"{action}, foreign", action, make(foreign, guard))
            yield Probe("writes", f"{action}, foreign, asking for the old item", action, make(foreign, loud))
            control: Expected = "denied" if scene.role.sample_path(action) is None else "allowed"
            yield Probe("controls", f"own {action}", action, make(scene.own(action), guard), control)
        alone = sample_requests.transact_write((kind, make(foreign, guard)))
        mixed = sample_requests.transact_write(
            ("Put", sample_requests.put(table, own, guard)), (kind, make(foreign, loud))
        )
        yield Probe("writes", f"TransactWriteItems, foreign {kind}", _TRANSACTION, alone)
        yield Probe("writes", f"TransactWriteItems, own Put and foreign {kind}", _TRANSACTION, mixed)
    yield Probe(
        "writes", "BatchWriteItem, foreign delete", "BatchWriteItem", sample_requests.batch_write(table, [], [foreign])
    )
    both = sample_requests.batch_write(table, [], [own, foreign])
    yield Probe("writes", "BatchWriteItem, own and foreign delete", "BatchWriteItem", both)
    if spec.indexes:
        yield _poisoning(scene)


def _poisoning(scene: ProbeScene) -> Probe:
    """IAM does not see attribute values, so the gateway must reject this row when it reads it."""
    index = scene.model.table.indexes[0]
    row = {**scene.own("PutItem"), index.pk: {"S": partition(scene.victim, "X")}, index.sk: {"S": _SK}}
    body = sample_requests.put(scene.table, row, sample_requests.guarded(scene.model.table))
    return Probe("limits", "own row with the other tenant's index key", "PutItem", body, "harmless")


# Attacks through mutations: each sends one transaction over all places of an item in the table, with the rows of
# another tenant or another subject.


def mutation_probes(scene: ProbeScene) -> Iterator[Probe]:
    """Every mutation with the other tenant's rows, and with the session's own as a control."""
    role = scene.model.all_roles.get(scene.role.name)
    for mutation in scene.model.mutations:
        foreign = _written(scene, mutation, scene.victim)
        yield Probe("mutations", f"{mutation.name}, the other tenant's rows", _TRANSACTION, foreign)
        own = _written(scene, mutation, scene.tenant)
        yield Probe("controls", f"own {mutation.name}", _TRANSACTION, own, _expected(scene, role, mutation))


def other_subject_probes(scene: ProbeScene) -> Iterator[Probe]:
    """Every pattern and every mutation with the rows of another subject of the tenant."""
    if not scene.role.own:
        return
    spec, table, few = scene.model.table, scene.table, scene.keys_only
    for name, subject in _OTHERS.items():
        for request in questions(scene.model, scene.tenant, subject):
            if request.owned:
                where = f"{request.pattern} of {name} by {request.operation} on {request.index or 'the table'}"
                yield Probe("subjects", where, request.operation, request.body(spec, table, few))
        for mutation in scene.model.mutations:
            if scene.model.entities[mutation.returns].owner is not None:
                body = _written(scene, mutation, scene.tenant, subject)
                yield Probe("subjects", f"{mutation.name} of {name}", _TRANSACTION, body)


def _expected(scene: ProbeScene, role: Role | None, mutation: Mutation) -> Expected:
    # for a role that the model does not declare, the tenant's own policy applies, without a session policy
    if role is None or role.writes_result(mutation):
        return "allowed"
    entity, changed = scene.model.entities[mutation.returns], role.removable if mutation.removes else role.writes
    # IAM only sees partitions: within a partition that the role writes, only the gateway's mutations protect other
    # items
    beside = changed != () and entity.name in role.beside
    confined = role.own and entity.owner is not None
    reached = not confined or any(holds_owner(entity, place) for place in entity.placements)
    return "harmless" if beside and reached else "denied"


def _written(scene: ProbeScene, mutation: Mutation, tenant: TenantId, subject: str = SAMPLE_SUBJECT) -> Body:
    guard = sample_requests.guarded(scene.model.table)
    return transaction(scene.model, mutation, tenant, scene.table, guard, subject)
