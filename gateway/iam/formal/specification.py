"""The specification of the documents, written independently of them: the rows, roles, resources and tags they allow.

Theorems compare the documents with this specification; those about rows hold for any `Scope`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from gateway.iam.dynamodb.condition_keys import (
    LEADING_KEYS,
    PRINCIPAL_SUBJECT,
    PRINCIPAL_TENANT,
    ROLE_TAG,
    SUBJECT_TAG,
    TENANT_TAG,
)
from gateway.iam.formal.formula import (
    ACTION,
    ARN,
    CALLER,
    CALLER_SESSION,
    ELEMENT,
    FALSE,
    TRUE,
    Every,
    Filled,
    Formula,
    Like,
    Pattern,
    Piece,
    Present,
    Ref,
    Single,
    Some,
    both,
    either,
    is_text,
    negated,
    one_of,
)
from gateway.iam.formal.string_patterns import WHOLE, Split, matches, part, rest
from gateway.iam.language.glob import Wild, parts
from gateway.iam.policies.deployment import Deployment
from gateway.iam.policies.roles import ITEM_ACTIONS, READS, RETURNING, GatewayRole, Grant
from gateway.iam.policies.statements import LEASE_ACTIONS, STREAM_READS
from gateway.model import role_reach
from gateway.model.model import Model
from gateway.model.role_reach import Find
from gateway.model.tenant import LEASE_PARTITION, TenantId, partition
from gateway.model.types import KEY_SEPARATOR

KEYS: Final = LEADING_KEYS.lower()
TENANT: Final = PRINCIPAL_TENANT.lower()
SUBJECT: Final = PRINCIPAL_SUBJECT.lower()
ATTRIBUTES: Final = "dynamodb:attributes"
SELECT: Final = "dynamodb:select"
RETURNED: Final = "dynamodb:returnvalues"
OTHER: Final = "request:other"
"""The other tenant or user whose rows a violation reaches."""
SOME_ATTRIBUTES: Final = ("COUNT", "SPECIFIC_ATTRIBUTES")

_VIA, _OF_TABLE = "kms:viaservice", "kms:encryptioncontext:aws:dynamodb:tablename"
_TAG_KEYS, _CARRIED, _SOURCE = "aws:tagkeys", "sts:transitivetagkeys", "sts:sourceidentity"
REQUESTED_TENANT, REQUESTED_ROLE, REQUESTED_SUBJECT = (
    f"aws:requesttag/{tag}".lower() for tag in (TENANT_TAG, ROLE_TAG, SUBJECT_TAG)
)


@dataclass(frozen=True, slots=True)
class Scope:
    """Rows whose partition key starts with these parts, which are fixed texts and session tags.

    Without a delimiter, the only part is the whole key.
    """

    parts: tuple[Pattern, ...]
    delimiter: str = KEY_SEPARATOR
    delimited: bool = True
    """True if no tag can contain the delimiter; otherwise keys cannot be split and are compared as a whole."""

    @property
    def split(self) -> Split:
        return Split(self.delimiter, len(self.parts)) if self.delimiter and self.delimited else WHOLE

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(token.key for pattern in self.parts for token in pattern if isinstance(token, Ref))

    @property
    def prefix(self) -> Pattern:
        """Returns the parts as one text, without a delimiter after the last."""
        tokens = [token for pattern in self.parts for token in (*pattern, self.delimiter)]
        return tuple(tokens[:-1])

    def holds(self, subject: str) -> Formula:
        """Returns the formula: the text of the subject is a key in this scope."""
        tags = tagged(*self.tags)
        if not self.split.depth:
            longer = matches(subject, (*self.prefix, self.delimiter, Wild.MANY)) if self.delimiter else FALSE
            return both(tags, either(matches(subject, self.prefix), longer))
        behind = (negated(Like(rest(subject, at), ())) for at in range(len(self.parts) - 1))
        return both(tags, *(Like(part(subject, at), pattern) for at, pattern in enumerate(self.parts)), *behind)

    def of_another(self) -> "Scope":
        """Returns the same rows of another owner: the last tag differs, and the tags before it do not."""
        last = self.tags[-1]
        changed = (tuple(Ref(OTHER) if token == Ref(last) else token for token in pattern) for pattern in self.parts)
        return replace(self, parts=tuple(changed))


_PREFIX: Final = partition(TenantId("\0"), "").removesuffix(KEY_SEPARATOR).split(KEY_SEPARATOR)
TENANT_ROWS: Final = Scope(tuple((Ref(TENANT) if text == "\0" else text,) for text in _PREFIX))
SPLITS: Final = {KEYS: TENANT_ROWS.split}


def includes(strong: GatewayRole, weak: GatewayRole) -> bool:
    """Whether the strong role is declared to do everything that the weak role does."""
    return (
        not any(_enters(weak, path) for path in strong.closed)
        and set(strong.hidden) <= set(weak.hidden)
        and set(strong.hidden_paths) <= set(weak.hidden_paths)
        and all(find in weak.finds or find.path in weak.hidden_paths for find in strong.finds)
        and all(_grants(strong, grant, action) for grant in weak.grants for action in grant.actions)
    )


def _enters(role: GatewayRole, path: str) -> bool:
    """Whether something is granted in these partitions, which are those of an entity."""
    granted = any(grant.paths is None or path in grant.paths for grant in role.grants)
    return granted and path not in role.closed


def _grants(role: GatewayRole, granted: Grant, action: str) -> bool:
    same = (grant for grant in role.grants if action in grant.actions)
    return any(
        grant.paths is None
        or (grant.index == granted.index and granted.paths is not None and _within(granted.paths, grant.paths))
        for grant in same
    )


def _within(paths: Iterable[str], wider: Iterable[str]) -> bool:
    """Whether every path equals a wider one or matches it, as `UNIQUE#User#*` matches `UNIQUE#*`."""
    return all(
        any(path == pattern or (pattern[-1:] == "*" and path.startswith(pattern[:-1])) for pattern in wider)
        for path in paths
    )


def tagged(*tags: str) -> Formula:
    """Returns the formula: the session has these tags, and none of them is empty."""
    return both(*(both(Single(tag), Filled(tag)) for tag in tags))


def acts(*names: str) -> Formula:
    return one_of(ACTION, *(f"dynamodb:{name}".lower() for name in names))


def of_service(*services: str) -> Formula:
    return either(*(matches(ACTION, (f"{service}:", Wild.MANY)) for service in services))


def own_rows(scope: Scope) -> Formula:
    """Returns the formula: there is a key, and every key is in the scope."""
    return both(Filled(KEYS), Every(KEYS, scope.holds(ELEMENT)))


def outside(scope: Scope) -> Formula:
    """Returns the formula: some key is outside of the scope."""
    return Some(KEYS, negated(scope.holds(ELEMENT)))


def foreign(scope: Scope) -> Formula:
    """Returns the formula: some key belongs to another owner."""
    same = Like(Piece(OTHER), (Ref(scope.tags[-1]),))
    another = both(Single(OTHER), Filled(OTHER), negated(both(Single(scope.tags[-1]), same)))
    return both(another, Some(KEYS, scope.of_another().holds(ELEMENT)))


def place(deployment: Deployment, service: str, name: Formula) -> Formula:
    texts = (deployment.partition, service, deployment.region, deployment.account)
    return both(*(is_text(key, text) for key, text in zip(ARN, texts, strict=False)), name)


def on_table(model: Model, deployment: Deployment) -> Formula:
    """Returns the formula for the table and, for queries, its indexes."""
    table = f"table/{deployment.table}"
    indexes = (f"{table}/index/{index.name}" for index in model.table.indexes)
    name = either(is_text(ARN[-1], table), both(acts("Query"), one_of(ARN[-1], *indexes)))
    return place(deployment, "dynamodb", name)


def table_key(deployment: Deployment) -> Formula:
    key = place(deployment, "kms", matches(ARN[-1], ("key/", Wild.MANY)))
    via = matches(_VIA, (f"dynamodb.{deployment.region}.", Wild.MANY))
    return both(is_text(ACTION, "kms:decrypt"), key, via, is_text(_OF_TABLE, deployment.table))


def any_table_key() -> Formula:
    return both(is_text(ACTION, "kms:decrypt"), matches(_VIA, ("dynamodb.", Wild.MANY)))


def shows_hidden(role: GatewayRole) -> Formula:
    """Returns the formula: the request could reveal a hidden attribute by name, in a whole item, or through a key."""
    if not role.hidden:
        return FALSE
    named = Some(ATTRIBUTES, one_of(ELEMENT, *role.hidden))
    whole = both(acts(*READS), negated(one_of(SELECT, *SOME_ATTRIBUTES)))
    returning = [action for action in RETURNING if action in role.actions]
    returned = both(acts(*returning), negated(is_text(RETURNED, "NONE"))) if returning else FALSE
    by_key = (_some_key(path) for path in role.hidden_paths)
    more = (both(_some_key(find.path), _more_than(find)) for find in role.finds)
    return either(both(of_service("dynamodb"), either(named, *by_key, *more)), whole, returned)


def _some_key(*paths: str) -> Formula:
    """Returns the formula: some key is in one of these partitions of the tenant."""
    if not paths:
        return FALSE
    return both(tagged(*TENANT_ROWS.tags), Some(KEYS, either(*(in_partitions(path, SUBJECT) for path in paths))))


def _more_than(find: Find) -> Formula:
    """Returns the formula: the request names an attribute besides those that an exact lookup may read."""
    return Some(ATTRIBUTES, negated(one_of(ELEMENT, *find.attributes)))


def in_closed(role: GatewayRole) -> Formula:
    """Returns the formula: some key is in a confidential partition."""
    return both(of_service("dynamodb"), _some_key(*role.closed))


def tenant_role_means(model: Model, deployment: Deployment) -> Formula:
    rows = both(acts(*ITEM_ACTIONS), own_rows(TENANT_ROWS), on_table(model, deployment))
    return either(rows, table_key(deployment))


def session_grants(role: GatewayRole) -> Formula:
    """Returns what the role's policy may grant before its denials apply."""
    return either(*map(_granted, role.grants), any_table_key())


def _granted(grant: Grant) -> Formula:
    """Returns the actions of a grant on the partitions that it names, each of them the tenant's own."""
    if grant.paths is None:
        return both(acts(*grant.actions), own_rows(TENANT_ROWS))
    tags = (*TENANT_ROWS.tags, *((SUBJECT,) if any(role_reach.SUBJECT in path for path in grant.paths) else ()))
    keys = Every(KEYS, either(*(in_partitions(path, SUBJECT) for path in grant.paths)))
    return both(acts(*grant.actions), _resource(grant), tagged(*tags), Filled(KEYS), keys)


def in_partitions(path: str, subject: str) -> Formula:
    """Returns a key of these partitions, after the tenant's prefix; `subject` replaces the subject."""
    before, marked, after = path.partition(role_reach.SUBJECT)
    named = (*parts(before), *((Ref(subject),) if marked else ()), *parts(after))
    return matches(ELEMENT, (*TENANT_ROWS.prefix, TENANT_ROWS.delimiter, *named), TENANT_ROWS.split)


def _resource(grant: Grant) -> Formula:
    """Returns the formula for a table or the index; the role determines which table."""
    anything = "table/", Wild.MANY, "/index/"
    somewhere = both(*(Present(key) for key in ARN), is_text(ARN[1], "dynamodb"))
    if grant.index is not None:
        return both(somewhere, matches(ARN[-1], (*anything, grant.index)))
    index = both(somewhere, matches(ARN[-1], (*anything, Wild.MANY)))
    return negated(index) if "Query" in grant.actions else TRUE


def of_another_subject(role: GatewayRole) -> Formula:
    """Returns the formula: some key is the partition of another subject of the tenant."""
    paths = {path for grant in role.grants for path in grant.paths or () if path.endswith(role_reach.SUBJECT)}
    same = both(Single(SUBJECT), Like(Piece(OTHER), (Ref(SUBJECT),)))
    another = both(Single(OTHER), Filled(OTHER), negated(same))
    return both(another, Some(KEYS, either(*(in_partitions(path, OTHER) for path in sorted(paths)))))


def session_means(role: GatewayRole) -> Formula:
    return both(session_grants(role), negated(shows_hidden(role)), negated(in_closed(role)))


def gateway_means(deployment: Deployment) -> Formula:
    starts = one_of(ACTION, "sts:assumerole", "sts:tagsession", "sts:setsourceidentity")
    parts_of_arn = zip(ARN, deployment.tenant_role.split(":", 5)[1:], strict=True)
    return both(starts, *(both(Present(key), is_text(key, text)) for key, text in parts_of_arn))


def is_lease() -> Formula:
    """Returns the formula: a key is the partition of the stream readers' leases."""
    return matches(ELEMENT, (LEASE_PARTITION,), TENANT_ROWS.split)


def stream_means(deployment: Deployment) -> Formula:
    """Returns the formula for the table's streams, the table's description, and the rows of the leases."""
    table = f"table/{deployment.table}"
    on_table = place(deployment, "dynamodb", is_text(ARN[-1], table))
    streams = place(deployment, "dynamodb", matches(ARN[-1], (f"{table}/stream/", Wild.MANY)))
    leases = both(acts(*LEASE_ACTIONS), Filled(KEYS), Every(KEYS, is_lease()), on_table)
    return either(
        both(acts(*STREAM_READS), streams), both(acts("DescribeTable"), on_table), leases, table_key(deployment)
    )


def endpoint_means(model: Model, deployment: Deployment) -> Formula:
    table = f"table/{deployment.table}"
    names = one_of(ARN[-1], table, *(f"{table}/index/{index.name}" for index in model.table.indexes))
    caller = both(is_text("aws:principalarn", deployment.tenant_role), Filled(TENANT))
    return both(acts(*ITEM_ACTIONS), place(deployment, "dynamodb", names), caller)


def is_gateway(deployment: Deployment) -> Formula:
    return either(*(is_text(key, deployment.gateway_role) for key in (CALLER, CALLER_SESSION)))


def trust_means(deployment: Deployment, roles: Iterable[GatewayRole]) -> Formula:
    """Only the gateway may use the three actions that start a session; only own-rows roles have a subject."""
    tenant, all_roles = matches(REQUESTED_TENANT, parts("??*")), tuple(roles)
    shared, own = (tuple(role.name for role in all_roles if role.own is kind) for kind in (False, True))
    subject = matches(REQUESTED_SUBJECT, parts("?*"))
    allowed = {
        "sts:assumerole": both(tenant, one_of(REQUESTED_ROLE, *shared, *own), Filled(_SOURCE)),
        "sts:tagsession": either(
            both(tenant, one_of(REQUESTED_ROLE, *shared), _only(TENANT_TAG, ROLE_TAG)),
            both(tenant, subject, one_of(REQUESTED_ROLE, *own), _only(TENANT_TAG, ROLE_TAG, SUBJECT_TAG)),
        ),
        "sts:setsourceidentity": TRUE,
    }
    cases = (both(is_text(ACTION, action), condition) for action, condition in allowed.items())
    return both(is_gateway(deployment), either(*cases))


def _only(*tags: str) -> Formula:
    return both(Filled(_TAG_KEYS), Every(_TAG_KEYS, one_of(ELEMENT, *tags)), negated(Filled(_CARRIED)))


def exactly_its_tags(roles: Iterable[GatewayRole]) -> Formula:
    """Returns the formula: a new session is tagged with tenant and role, and a subject in own-rows roles only."""
    own = tuple(role.name for role in roles if role.own)
    tags = (Some(_TAG_KEYS, is_text(ELEMENT, tag)) for tag in (TENANT_TAG, ROLE_TAG))
    of_subject = one_of(REQUESTED_ROLE, *own) if own else FALSE
    named = Some(_TAG_KEYS, is_text(ELEMENT, SUBJECT_TAG))
    linked = either(both(of_subject, named, Filled(REQUESTED_SUBJECT)), both(negated(of_subject), negated(named)))
    allowed_tags = _only(TENANT_TAG, ROLE_TAG, SUBJECT_TAG)
    return both(allowed_tags, *tags, linked, Filled(REQUESTED_TENANT), Filled(REQUESTED_ROLE))


def tag_keys_match_request_tags() -> Formula:
    """Returns the formula: AWS sets `aws:TagKeys` and `aws:RequestTag/...` from the same tags."""
    pairs = ((REQUESTED_TENANT, TENANT_TAG), (REQUESTED_ROLE, ROLE_TAG), (REQUESTED_SUBJECT, SUBJECT_TAG))
    linked = ((Present(key), Some(_TAG_KEYS, is_text(ELEMENT, tag))) for key, tag in pairs)
    return both(*(either(both(key, named), both(negated(key), negated(named))) for key, named in linked))
