"""The theorems about the policies: formulas that no request may satisfy, or that some request must satisfy."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

from gateway.iam.formal import specification
from gateway.iam.formal.compiler import FormulaCompiler, Layer, allowed
from gateway.iam.formal.file_specification import (
    file_acts,
    files_endpoint_means,
    includes_files,
    own_file,
    role_files,
    session_files,
)
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
from gateway.iam.formal.specification import KEYS, SPLITS, TENANT, TENANT_ROWS, Scope, acts, of_service
from gateway.iam.language.document import PolicyDocument
from gateway.iam.language.glob import compiled
from gateway.iam.policies.deployment import Deployment
from gateway.iam.policies.generate import (
    BOUNDARY_FILE,
    ENDPOINT_FILE,
    FILES_ENDPOINT_FILE,
    GATEWAY_FILE,
    STREAM_FILE,
    TENANT_FILE,
    TRUST_FILE,
    kind_of,
    session_file,
)
from gateway.iam.policies.policies import document
from gateway.iam.policies.review import EVERY_ACTION
from gateway.iam.policies.roles import FILE_ACTIONS, ITEM_ACTIONS, GatewayRole, roles_of
from gateway.iam.policies.statements import DECRYPT, LEASE_ACTIONS, STREAM_READS
from gateway.model.files.keys import has_files
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
    """The compiled documents of a model in one deployment, and the roles that they are for."""

    model: Model
    deployment: Deployment
    roles: tuple[GatewayRole, ...]
    documents: Mapping[str, PolicyDocument]
    layers: Mapping[str, Layer] = field(default_factory=dict)

    def of_role(self, role: GatewayRole) -> tuple[Layer, ...]:
        return tuple(self.layers[name] for name in (TENANT_FILE, session_file(role.name), BOUNDARY_FILE))


def subject(
    model: Model,
    documents: Mapping[str, Mapping[str, Any]],
    deployment: Deployment,
    roles: Sequence[GatewayRole] | None = None,
) -> ProofSubject:
    """`roles` are those of the model, unless others are given. Raises `PolicyError` for an invalid document."""
    parsed = {name: document(documents, name, deployment) for name in documents}
    layers = {name: FormulaCompiler(SPLITS).layer([parsed_document]) for name, parsed_document in parsed.items()}
    return ProofSubject(model, deployment, tuple(roles_of(model) if roles is None else roles), parsed, layers)


def theorems(proof: ProofSubject) -> Iterator[Theorem]:
    """Yields all theorems; `of_document` has those about one document."""
    for role in proof.roles:
        yield from _of_role(proof, role, allowed(proof.of_role(role)))
    yield from _order(proof)
    yield from _attached(proof)
    yield from _sessions(proof)
    for name in proof.documents:
        yield from of_document(proof, name)


def isolation(about: str, may: Formula, scope: Scope, prefix: str = "") -> Iterator[Theorem]:
    """Yields the theorems that separate tenants, for any combination of policies."""
    rows = both(may, of_service("dynamodb"))
    yield Theorem(f"{prefix}no foreign item", about, both(rows, specification.foreign(scope)))
    yield Theorem(f"{prefix}no key outside of the prefix", about, both(rows, specification.outside(scope)))
    yield Theorem(f"{prefix}nothing without a key", about, both(rows, negated(Filled(KEYS))))
    yield Theorem(f"{prefix}nothing without a tenant", about, both(rows, negated(Filled(TENANT))))


def _foreign_file(proof: ProofSubject, about: str, may: Formula, prefix: str = "") -> Theorem:
    own = own_file(proof.model, proof.deployment)
    return Theorem(f"{prefix}no foreign file", about, both(may, of_service("s3"), negated(own)))


def _of_role(proof: ProofSubject, role: GatewayRole, may: Formula) -> Iterator[Theorem]:
    yield from isolation(role.name, may, TENANT_ROWS)
    yield _foreign_file(proof, role.name, may)
    yield Theorem("only actions on items", role.name, both(may, of_service("dynamodb"), negated(acts(*role.actions))))
    files = {action: own_file(proof.model, proof.deployment) for grant in role.files for action in grant.actions}
    data = either(of_service("dynamodb"), is_text(ACTION, DECRYPT.lower()), file_acts(*files))
    yield Theorem("only data", role.name, both(may, negated(data)))
    for action, own_files in files.items():
        yield Theorem(
            "every granted action is usable", f"{role.name} {action}", both(may, file_acts(action), own_files), True
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
    own = specification.own_rows(TENANT_ROWS)
    for action in role.actions:
        yield Theorem("every granted action is usable", f"{role.name} {action}", both(may, acts(action), own), True)


def _order(proof: ProofSubject) -> Iterator[Theorem]:
    """Yields the theorem that a role includes another one, or that it does not."""
    may = {role.name: allowed(proof.of_role(role)) for role in proof.roles}
    rows = {name: without_files(formula) for name, formula in may.items()}
    for strong, weak in permutations(proof.roles, 2):
        about, included = f"{weak.name} <= {strong.name}", specification.includes(strong, weak)
        more = both(rows[weak.name], negated(rows[strong.name]))
        yield Theorem("roles are ordered as declared", about, more, not included)
        if weak.files and includes_files(strong, weak):
            of_files = both(may[weak.name], negated(may[strong.name]), of_service("s3"))
            yield Theorem("roles are ordered as declared", f"{about}, files", of_files)


def _attached(proof: ProofSubject) -> Iterator[Theorem]:
    """Yields the theorems for any additional policy on the tenants' role, or any session policy."""
    identity, boundary = proof.layers[TENANT_FILE], proof.layers[BOUNDARY_FILE]
    anything = Layer(UnwrittenStatement("a further policy allows"), UnwrittenStatement("a further policy denies"))
    more = Layer(either(identity.allows, anything.allows), either(identity.denies, anything.denies))
    yield from isolation("any policy attached to the role", allowed((anything, boundary)), TENANT_ROWS, "boundary: ")
    # a list of denials does not cover actions that AWS adds later; the boundary denies those
    documented = both(allowed((more,)), acts(*sorted(EVERY_ACTION)))
    yield from isolation("any policy attached to the role", documented, TENANT_ROWS, "denials: ")
    with_any = allowed((identity, anything, boundary))
    yield from isolation("any session policy", with_any, TENANT_ROWS, "session: ")
    if has_files(proof.model):
        yield _foreign_file(proof, "any policy attached to the role", allowed((anything, boundary)), "boundary: ")
        yield _foreign_file(proof, "any policy attached to the role", allowed((more,)), "denials: ")
        yield _foreign_file(proof, "any session policy", with_any, "session: ")
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
    data = both(allowed((further,)), of_service(*_data_services(proof)))
    yield Theorem("the gateway's role has no data", GATEWAY_FILE, data)
    reader = proof.layers[STREAM_FILE]
    more = Layer(either(reader.allows, UnwrittenStatement("a further policy allows")), reader.denies)
    rows = both(allowed((more,)), of_service("dynamodb"), Some(KEYS, negated(specification.is_lease())))
    yield Theorem("the stream's reader reaches no tenant's row", STREAM_FILE, both(rows, acts(*ITEM_ACTIONS)))
    for name, service in ((ENDPOINT_FILE, "dynamodb"), (FILES_ENDPOINT_FILE, "s3")):
        if name in proof.layers:
            yield from _endpoint(proof, name, service)


def _endpoint(proof: ProofSubject, name: str, service: str) -> Iterator[Theorem]:
    passes = allowed((proof.layers[name],))
    yield Theorem("the endpoint serves the tenants' role alone", name, both(passes, negated(_as_tenant(proof))))
    for role in proof.roles:
        may = both(allowed(proof.of_role(role)), of_service(service), _as_tenant(proof))
        about = role.name if name == ENDPOINT_FILE else f"{role.name}, files"
        yield Theorem("the endpoint stops nothing that a role may do", about, both(may, negated(passes)))


def _data_services(proof: ProofSubject) -> tuple[str, ...]:
    return ("dynamodb", "dax", *(("s3",) if has_files(proof.model) else ()))


def _as_tenant(proof: ProofSubject) -> Formula:
    return is_text("aws:principalarn", proof.deployment.tenant_role)


def of_document(proof: ProofSubject, name: str) -> Iterator[Theorem]:
    """Yields the theorems that one document by itself grants exactly what its specification says, and denies the rest.

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
    """Returns what the document must allow, and what its Allow statements alone may allow."""
    match name:
        case "tenant-role.json" | "boundary.json":
            rows = specification.tenant_role_means(proof.model, proof.deployment)
            means = either(rows, role_files(proof.model, proof.deployment))
        case "tenant-trust.json":
            means = specification.trust_means(proof.deployment, proof.roles)
        case "gateway-role.json":
            means = specification.gateway_means(proof.deployment)
        case "stream-role.json":
            means = specification.stream_means(proof.deployment)
        case "vpc-endpoint.json":
            means = specification.endpoint_means(proof.model, proof.deployment)
        case "vpc-endpoint-files.json":
            means = files_endpoint_means(proof.deployment)
        case _:
            role = _role(proof, name)
            files = session_files(role)
            return either(specification.session_means(role), files), either(specification.session_grants(role), files)
    return means, means


def _must_deny(proof: ProofSubject, name: str) -> Iterator[tuple[str, Formula]]:
    match name:
        case "tenant-role.json":
            yield "every other documented action", acts(*NOT_ROWS)
            if has_files(proof.model):
                own = own_file(proof.model, proof.deployment)
                yield "the files of others", both(of_service("s3"), negated(own))
        case "boundary.json":
            yield "every other action", _all_but(ITEM_ACTIONS, FILE_ACTIONS if has_files(proof.model) else ())
        case "stream-role.json":
            yield "every other action", _all_but((*STREAM_READS, "DescribeTable", *LEASE_ACTIONS))
        case "gateway-role.json":
            yield "data", of_service(*_data_services(proof))
        case "tenant-trust.json" | "vpc-endpoint.json" | "vpc-endpoint-files.json":
            return
        case _:
            role = _role(proof, name)
            yield (
                "every other action",
                _all_but(role.actions, [action for grant in role.files for action in grant.actions]),
            )


def _must_restrict(proof: ProofSubject, name: str) -> Iterator[tuple[str, Formula]]:
    """Yields what the document must deny by conditions, whatever else is granted."""
    if name == TENANT_FILE:
        yield "the rows of others", both(of_service("dynamodb"), specification.outside(TENANT_ROWS))
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


def _all_but(actions: Sequence[str], files: Sequence[str] = ()) -> Formula:
    return negated(either(acts(*actions), file_acts(*files), is_text(ACTION, DECRYPT.lower())))


def _role(proof: ProofSubject, name: str) -> GatewayRole:
    return next(role for role in proof.roles if session_file(role.name) == name)


def without_files(formula: Formula) -> Formula:
    """Returns the formula without the actions of S3: the rows alone, which a solver decides faster."""

    def atom(part: Formula) -> Formula:
        match part:
            case Like(Piece(subject), (str(text), *_)) if subject == ACTION and text.startswith("s3:"):
                return Constant(False)
        return part

    return rewritten(formula, atom)


def with_action(formula: Formula, action: str) -> Formula:
    """Returns the formula for one given action."""

    def atom(part: Formula) -> Formula:
        match part:
            case Like(Piece(subject), pattern) if subject == ACTION:
                return Constant(compiled(tuple(token for token in pattern if not isinstance(token, Ref)))(action))
        return part

    return rewritten(formula, atom)
