"""Checks that each role may do everything it is declared to do, because policies that deny all satisfy most proofs."""

from collections.abc import Iterator
from dataclasses import dataclass

from gateway.iam.dynamodb import sample_requests
from gateway.iam.dynamodb.requests import authorisations
from gateway.iam.dynamodb.sample_requests import Body
from gateway.iam.formal.compiler import allowed
from gateway.iam.formal.interpreter import evaluator, facts
from gateway.iam.formal.specification import SPLITS, SUBJECT, TENANT
from gateway.iam.formal.theorems import ProofSubject
from gateway.iam.language import glob
from gateway.iam.policies.pattern_requests import SAMPLE_SUBJECT, questions, sample, transaction
from gateway.iam.policies.policies import place_of
from gateway.iam.policies.roles import GatewayRole
from gateway.model import role_reach
from gateway.model.keys import item_key
from gateway.model.tenant import partition, tenant_id

_TENANT = tenant_id("acme")


@dataclass(frozen=True, slots=True)
class Use:
    """One request of a role, with the expected and the actual decision."""

    role: str
    name: str
    operation: str
    expected: bool
    allowed: bool

    @property
    def held(self) -> bool:
        return self.expected == self.allowed


def uses(subject: ProofSubject) -> Iterator[Use]:
    place = place_of(subject.model, subject.deployment)
    for role in subject.roles:
        may = evaluator(allowed(subject.of_role(role)), SPLITS)
        for name, operation, body, expected in (
            *_reads(subject, role),
            *_writes(subject, role),
            *_mutations(subject, role),
        ):
            needed = authorisations(operation, body, place)
            tags = {TENANT: _TENANT, **({SUBJECT: SAMPLE_SUBJECT} if role.own else {})}
            held = all(may(facts(authorisation) | tags) for authorisation in needed)
            yield Use(role.name, name, operation, expected, held)


def _reads(subject: ProofSubject, role: GatewayRole) -> Iterator[tuple[str, str, Body, bool]]:
    """Yields reads; a role with hidden attributes must name the attributes, because it may not request whole items."""
    table = subject.model.table
    for question in questions(subject.model, _TENANT):
        if question.through and question.pattern not in role.patterns:
            continue
        entity = subject.model.entities[subject.model.patterns[question.pattern].entity]
        readable = next((find.attributes for find in role.finds if find.pattern == question.pattern), entity.attribute)
        seen = tuple(name for name in entity.attribute if name not in role.hidden and name in readable)
        names = (table.pk, table.sk, *seen) if role.hidden else ()
        body = question.body(table, subject.deployment.table, names)
        yield (
            question.pattern,
            question.operation,
            body,
            question.pattern in role.patterns and question.operation in role.actions,
        )


def _writes(subject: ProofSubject, role: GatewayRole) -> Iterator[tuple[str, str, Body, bool]]:
    """Yields the members of the transactions that mutations send, and the batches that migrations send."""
    spec, table = subject.model.table, subject.deployment.table
    for entity in subject.model.entities.values():
        key = item_key(_TENANT, entity, sample(entity, entity.primary), entity.primary)
        open_to = _open_to(role, key.pk.removeprefix(partition(_TENANT, "")))
        item = sample_requests.key(spec, key.pk, key.sk)
        members = {
            "PutItem": ("Put", sample_requests.put(table, item, {})),
            "UpdateItem": ("Update", sample_requests.update(table, item, "version", {})),
            "DeleteItem": ("Delete", sample_requests.delete(table, item, {})),
            "ConditionCheckItem": ("ConditionCheck", sample_requests.condition_check(table, item, spec)),
        }
        for action, member in members.items():
            body = sample_requests.transact_write(member)
            yield f"{member[0]} {entity.name}", "TransactWriteItems", body, action in open_to
        batch = sample_requests.batch_write(table, [item], [])
        yield f"batch of {entity.name}", "BatchWriteItem", batch, "BatchWriteItem" in open_to


def _mutations(subject: ProofSubject, role: GatewayRole) -> Iterator[tuple[str, str, Body, bool]]:
    """Yields the transaction of each mutation; a role may call the mutation if it has all of its places."""
    for mutation in subject.model.mutations:
        entity, action = subject.model.entities[mutation.returns], "DeleteItem" if mutation.removes else "PutItem"
        places = (place for place in entity.placements if place.index is None)
        paths = (item_key(_TENANT, entity, sample(entity, place), place).pk for place in places)
        open_to = (_open_to(role, path.removeprefix(partition(_TENANT, ""))) for path in paths)
        body = transaction(subject.model, mutation, _TENANT, subject.deployment.table, {})
        yield mutation.name, "TransactWriteItems", body, all(action in actions for actions in open_to)


def _open_to(role: GatewayRole, path: str) -> frozenset[str]:
    """Returns the actions that the role has in this partition of the table."""

    def matches(pattern: str) -> bool:
        return glob.compiled(glob.parts(pattern.replace(role_reach.SUBJECT, SAMPLE_SUBJECT)))(path)

    if any(map(matches, (*role.hidden_paths, *role.closed))):
        return frozenset()
    return frozenset(
        action
        for grant in role.grants
        if grant.index is None and (grant.paths is None or any(map(matches, grant.paths)))
        for action in grant.actions
    )
