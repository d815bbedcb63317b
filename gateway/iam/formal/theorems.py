"""The theorems about the policies, each as a formula that no request may satisfy, or that some request must satisfy."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gateway.iam.formal import specification
from gateway.iam.formal.compiler import FormulaCompiler, Layer, allowed
from gateway.iam.formal.formula import (
    ACTION,
    Constant,
    Filled,
    Formula,
    Like,
    Piece,
    Ref,
    Some,
    UnwrittenStatement,
    both,
    either,
    is_text,
    negated,
    rewritten,
)
from gateway.iam.formal.specification import KEYS, SPLITS, TENANT, RoleMeaning, Scope, acts, of_service
from gateway.iam.language.document import PolicyDocument
from gateway.iam.language.glob import compiled
from gateway.iam.policies.deployment import Deployment
from gateway.iam.policies.generate import (
    BOUNDARY_FILE,
    ENDPOINT_FILE,
    GATEWAY_FILE,
    STREAM_FILE,
    TENANT_FILE,
    TRUST_FILE,
    kind_of,
    session_file,
)
from gateway.iam.policies.policies import document
from gateway.iam.policies.review import EVERY_ACTION
from gateway.iam.policies.roles import ITEM_ACTIONS
from gateway.iam.policies.statements import DECRYPT, LEASE_ACTIONS, STREAM_READS
from gateway.model.model import Model

NOT_ROWS = tuple(sorted(EVERY_ACTION - set(ITEM_ACTIONS)))
"""Documented actions that no policy may grant: most of them have no LeadingKeys to separate tenants."""


@dataclass(frozen=True, slots=True)
class Theorem:
    """No request may satisfy `violation`; if `possible`, some request must satisfy it.

    `name` is a key of `EXPLAINED`; `about` is the role or the document.
    """

    name: str
    about: str
    violation: Formula
    possible: bool = False


@dataclass(frozen=True, slots=True)
class ProofSubject:
    """The compiled documents of a model in one deployment, and the specification of their roles."""

    model: Model
    deployment: Deployment
    roles: tuple[RoleMeaning, ...]
    documents: Mapping[str, PolicyDocument]
    layers: Mapping[str, Layer] = field(default_factory=dict)

    def of_role(self, role: RoleMeaning) -> tuple[Layer, ...]:
        return tuple(self.layers[name] for name in (TENANT_FILE, session_file(role.name), BOUNDARY_FILE))


def subject(
    model: Model, roles: Sequence[RoleMeaning], documents: Mapping[str, Mapping[str, Any]], deployment: Deployment
) -> ProofSubject:
    """Raises `PolicyError` for a document that is not valid."""
    parsed = {name: document(documents, name, deployment) for name in documents}
    layers = {name: FormulaCompiler(SPLITS).layer([parsed_document]) for name, parsed_document in parsed.items()}
    return ProofSubject(model, deployment, tuple(roles), parsed, layers)


def theorems(proof: ProofSubject) -> Iterator[Theorem]:
    """All theorems; `of_document` has those about one document."""
    for role in proof.roles:
        yield from _of_role(role, allowed(proof.of_role(role)))
    yield from _order(proof)
    yield from _attached(proof)
    yield from _sessions(proof)
    for name in proof.documents:
        yield from of_document(proof, name)


def isolation(about: str, may: Formula, scope: Scope, prefix: str = "") -> Iterator[Theorem]:
    """The theorems that separate tenants, for any combination of policies."""
    rows = both(may, of_service("dynamodb"))
    yield Theorem(f"{prefix}no foreign item", about, both(rows, specification.foreign(scope)))
    yield Theorem(f"{prefix}no key outside of the prefix", about, both(rows, specification.outside(scope)))
    yield Theorem(f"{prefix}nothing without a key", about, both(rows, negated(Filled(KEYS))))
    yield Theorem(f"{prefix}nothing without a tenant", about, both(rows, negated(Filled(TENANT))))


def _of_role(role: RoleMeaning, may: Formula) -> Iterator[Theorem]:
    yield from isolation(role.name, may, role.rows)
    yield Theorem("only actions on items", role.name, both(may, of_service("dynamodb"), negated(acts(*role.actions))))
    yield Theorem(
        "only data", role.name, both(may, negated(either(of_service("dynamodb"), is_text(ACTION, DECRYPT.lower()))))
    )
    if role.own:
        yield Theorem(
            "no item of another subject",
            role.name,
            both(may, of_service("dynamodb"), specification.of_another_subject(role)),
        )
    if role.hidden:
        yield Theorem("hidden attributes stay hidden", role.name, both(may, specification.shows_hidden(role)))
    if role.closed:
        yield Theorem("confidential rows stay closed", role.name, both(may, specification.in_closed(role)))
    own = specification.own_rows(role.rows)
    for action in role.actions:
        yield Theorem("every granted action is usable", f"{role.name} {action}", both(may, acts(action), own), True)


def _order(proof: ProofSubject) -> Iterator[Theorem]:
    """That a role includes another one, or that it does not."""
    may = {role.name: allowed(proof.of_role(role)) for role in proof.roles}
    for strong in proof.roles:
        for weak in proof.roles:
            more = both(may[weak.name], negated(may[strong.name]))
            if strong != weak:
                yield Theorem(
                    "roles are ordered as declared", f"{weak.name} <= {strong.name}", more, not strong.includes(weak)
                )


def _attached(proof: ProofSubject) -> Iterator[Theorem]:
    """The theorems that hold if any policy is attached to the tenants' role, or any session policy is passed."""
    identity, boundary = proof.layers[TENANT_FILE], proof.layers[BOUNDARY_FILE]
    anything = Layer(UnwrittenStatement("a further policy allows"), UnwrittenStatement("a further policy denies"))
    more = Layer(either(identity.allows, anything.allows), either(identity.denies, anything.denies))
    scope = specification.TENANT_ROWS
    yield from isolation("any policy attached to the role", allowed((anything, boundary)), scope, "boundary: ")
    # A list of denials does not cover actions that AWS adds later; the boundary denies those.
    documented = both(allowed((more,)), acts(*EVERY_ACTION))
    yield from isolation("any policy attached to the role", documented, scope, "denials: ")
    with_any = allowed((identity, anything, boundary))
    yield from isolation("any session policy", with_any, scope, "session: ")
    wider = both(with_any, negated(allowed((identity, boundary))))
    yield Theorem("a session policy cannot widen", "any session policy", wider)


def _sessions(proof: ProofSubject) -> Iterator[Theorem]:
    trust = proof.layers[TRUST_FILE]
    may = allowed((trust,))
    yield Theorem(
        "only the gateway starts sessions", TRUST_FILE, both(may, negated(specification.is_gateway(proof.deployment)))
    )
    started = both(*(with_action(may, action) for action in ("sts:assumerole", "sts:tagsession")))
    linked = specification.tag_keys_match_request_tags()
    yield Theorem(
        "a session has exactly its tags",
        TRUST_FILE,
        both(linked, started, negated(specification.exactly_its_tags(proof.roles))),
    )
    yield Theorem("the gateway can start a session", TRUST_FILE, both(linked, started), True)
    gateway = proof.layers[GATEWAY_FILE]
    further = Layer(either(gateway.allows, UnwrittenStatement("a further policy allows")), gateway.denies)
    data = both(allowed((further,)), of_service("dynamodb", "dax"))
    yield Theorem("the gateway's role has no data", GATEWAY_FILE, data)
    reader = proof.layers[STREAM_FILE]
    more = Layer(either(reader.allows, UnwrittenStatement("a further policy allows")), reader.denies)
    rows = both(allowed((more,)), of_service("dynamodb"), Some(KEYS, negated(specification.is_lease())))
    yield Theorem("the stream's reader reaches no tenant's row", STREAM_FILE, both(rows, acts(*ITEM_ACTIONS)))
    endpoint = both(
        allowed((proof.layers[ENDPOINT_FILE],)), negated(is_text("aws:principalarn", proof.deployment.tenant_role))
    )
    yield Theorem("the endpoint serves the tenants' role alone", ENDPOINT_FILE, endpoint)
    for role in proof.roles:
        both_allow = both(allowed(proof.of_role(role)), of_service("dynamodb"), _as_tenant(proof))
        stopped = both(both_allow, negated(allowed((proof.layers[ENDPOINT_FILE],))))
        yield Theorem("the endpoint stops nothing that a role may do", role.name, stopped)


def _as_tenant(proof: ProofSubject) -> Formula:
    return is_text("aws:principalarn", proof.deployment.tenant_role)


def of_document(proof: ProofSubject, name: str) -> Iterator[Theorem]:
    """One document by itself grants exactly what its specification says, and denies the rest.

    Its grants and its denials are also proved separately, so that neither depends on the other.
    """
    layer = proof.layers[name]
    means, grants = _means(proof, name)
    yield Theorem("grants no more than declared", name, both(allowed((layer,)), negated(means)))
    yield Theorem("grants no less than declared", name, both(means, negated(allowed((layer,)))))
    yield Theorem("grants hold without denials", name, both(layer.allows, negated(grants)))
    for what, violation in _must_deny(proof, name):
        yield Theorem("denies explicitly", f"{name}: {what}", both(violation, negated(layer.denies)))
    for what, violation in _must_restrict(proof, name):
        yield Theorem("denies by condition", f"{name}: {what}", both(violation, negated(layer.restricts)))


def _means(proof: ProofSubject, name: str) -> tuple[Formula, Formula]:
    """What the document must allow, and what its Allow statements alone may allow."""
    match name:
        case "tenant-role.json" | "boundary.json":
            means = specification.tenant_role_means(proof.model, proof.deployment)
        case "tenant-trust.json":
            means = specification.trust_means(proof.deployment, proof.roles)
        case "gateway-role.json":
            means = specification.gateway_means(proof.deployment)
        case "stream-role.json":
            means = specification.stream_means(proof.deployment)
        case "vpc-endpoint.json":
            means = specification.endpoint_means(proof.model, proof.deployment)
        case _:
            role = _role(proof, name)
            return specification.session_means(role), specification.session_grants(role)
    return means, means


def _must_deny(proof: ProofSubject, name: str) -> Iterator[tuple[str, Formula]]:
    match name:
        case "tenant-role.json":
            yield "every other documented action", acts(*NOT_ROWS)
        case "boundary.json":
            yield "every other action", _all_but(ITEM_ACTIONS)
        case "stream-role.json":
            yield "every other action", _all_but((*STREAM_READS, "DescribeTable", *LEASE_ACTIONS))
        case "gateway-role.json":
            yield "data", of_service("dynamodb", "dax")
        case "tenant-trust.json" | "vpc-endpoint.json":
            return
        case _:
            yield "every other action", _all_but(_role(proof, name).actions)


def _must_restrict(proof: ProofSubject, name: str) -> Iterator[tuple[str, Formula]]:
    """What the document must deny by conditions, whatever else is granted."""
    if name == TENANT_FILE:
        yield "the rows of others", both(of_service("dynamodb"), specification.outside(specification.TENANT_ROWS))
        yield "a request without keys", both(acts(*ITEM_ACTIONS), negated(Filled(KEYS)))
        yield "a session without a tenant", both(of_service("dynamodb"), negated(Filled(TENANT)))
    elif name == STREAM_FILE:
        yield "every row but the leases", both(acts(*LEASE_ACTIONS), Some(KEYS, negated(specification.is_lease())))
        yield "a request without keys", both(acts(*LEASE_ACTIONS), negated(Filled(KEYS)))
    elif kind_of(name) == "session":
        role = _role(proof, name)
        if role.hidden:
            yield "what shows a hidden attribute", specification.shows_hidden(role)
        if role.closed:
            yield "what is confidential", specification.in_closed(role)


def _all_but(actions: Sequence[str]) -> Formula:
    return negated(either(acts(*actions), is_text(ACTION, DECRYPT.lower())))


def _role(proof: ProofSubject, name: str) -> RoleMeaning:
    return next(role for role in proof.roles if session_file(role.name) == name)


def with_action(formula: Formula, action: str) -> Formula:
    """The formula for one given action."""

    def atom(part: Formula) -> Formula:
        match part:
            case Like(Piece(subject), pattern) if subject == ACTION:
                return Constant(compiled(tuple(token for token in pattern if not isinstance(token, Ref)))(action))
        return part

    return rewritten(formula, atom)
