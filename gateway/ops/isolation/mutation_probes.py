"""Attacks through writes: each mutation of the model with the rows of another tenant or another subject.

A mutation sends one transaction over all places of an item in the table. The probes are such transactions, with a
condition that no item meets.
"""

from collections.abc import Iterator

from gateway.iam.dynamodb import sample_requests
from gateway.iam.dynamodb.sample_requests import Body
from gateway.iam.policies.pattern_requests import SAMPLE_SUBJECT, questions, transaction
from gateway.model.mutation import Mutation
from gateway.model.role import Role
from gateway.model.role_reach import holds_owner
from gateway.model.tenant import TenantId
from gateway.ops.isolation.probes import Expected, Probe, ProbeScene

_TRANSACTION = "TransactWriteItems"
_OTHERS = {
    "another subject": "somebody-else",
    "a longer id with the same beginning": f"{SAMPLE_SUBJECT}2",
    "a shorter id with the same beginning": SAMPLE_SUBJECT[:-1],
}


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
