"""The specification of the documents, written independently of them: which rows, roles, resources and tags they allow.

Theorems compare the documents with this specification. A role with other rows, such as those of one user, gets another
`Scope`; the theorems about rows are stated for any scope.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from gateway.iam.dynamodb.condition_keys import LEADING_KEYS, PRINCIPAL_TENANT, ROLE_TAG, TENANT_TAG
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
from gateway.iam.policies.personal_data import personal_attributes, personal_partitions
from gateway.iam.policies.roles import ITEM_ACTIONS, READS, RETURNING, ROLE_NAMES, GatewayRole
from gateway.model.model import Model
from gateway.model.tenant import TenantId, partition
from gateway.model.types import KEY_SEPARATOR

KEYS: Final = LEADING_KEYS.lower()
TENANT: Final = PRINCIPAL_TENANT.lower()
ATTRIBUTES: Final = "dynamodb:attributes"
SELECT: Final = "dynamodb:select"
RETURNED: Final = "dynamodb:returnvalues"
OTHER: Final = "request:other"
"""The other tenant or user whose rows a violation reaches."""
SOME_ATTRIBUTES: Final = ("COUNT", "SPECIFIC_ATTRIBUTES")

_VIA, _OF_TABLE = "kms:viaservice", "kms:encryptioncontext:aws:dynamodb:tablename"
_TAG_KEYS, _CARRIED, _SOURCE = "aws:tagkeys", "sts:transitivetagkeys", "sts:sourceidentity"
REQUESTED_TENANT, REQUESTED_ROLE = (f"aws:requesttag/{tag}".lower() for tag in (TENANT_TAG, ROLE_TAG))


@dataclass(frozen=True, slots=True)
class Scope:
    """Rows whose partition key begins with these parts, which are fixed texts and session tags.

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
        """The parts as one text, without a delimiter after the last."""
        tokens = [token for pattern in self.parts for token in (*pattern, self.delimiter)]
        return tuple(tokens[:-1])

    def holds(self, subject: str) -> Formula:
        """The text of the subject is a key in this scope."""
        tags = both(*(both(Single(tag), Filled(tag)) for tag in self.tags))
        if not self.split.depth:
            longer = matches(subject, (*self.prefix, self.delimiter, Wild.MANY)) if self.delimiter else FALSE
            return both(tags, either(matches(subject, self.prefix), longer))
        behind = (negated(Like(rest(subject, at), ())) for at in range(len(self.parts) - 1))
        return both(tags, *(Like(part(subject, at), pattern) for at, pattern in enumerate(self.parts)), *behind)

    def of_another(self) -> "Scope":
        """The same rows of another owner: the last tag differs, the tags before it do not."""
        last = self.tags[-1]
        changed = (tuple(Ref(OTHER) if token == Ref(last) else token for token in pattern) for pattern in self.parts)
        return replace(self, parts=tuple(changed))


_PREFIX: Final = partition(TenantId("\0"), "").removesuffix(KEY_SEPARATOR).split(KEY_SEPARATOR)
TENANT_ROWS: Final = Scope(tuple((Ref(TENANT) if text == "\0" else text,) for text in _PREFIX))
SPLITS: Final = {KEYS: TENANT_ROWS.split}


@dataclass(frozen=True, slots=True)
class RoleMeaning:
    """`hidden` are attributes the role never reads, `hidden_keys` patterns of partitions that show one of them."""

    name: str
    actions: tuple[str, ...]
    hidden: tuple[str, ...]
    hidden_keys: tuple[str, ...]
    rows: Scope = TENANT_ROWS

    def includes(self, weaker: "RoleMeaning") -> bool:
        """Declared to do everything that the other role does."""
        return set(weaker.actions) <= set(self.actions) and set(self.hidden) <= set(weaker.hidden)


def role_meaning(model: Model, role: GatewayRole) -> RoleMeaning:
    if role.sees_personal:
        return RoleMeaning(role.name, role.actions, (), ())
    return RoleMeaning(role.name, role.actions, personal_attributes(model), personal_partitions(model))


def acts(*names: str) -> Formula:
    return one_of(ACTION, *(f"dynamodb:{name}".lower() for name in names))


def of_service(*services: str) -> Formula:
    return either(*(matches(ACTION, (f"{service}:", Wild.MANY)) for service in services))


def own_rows(scope: Scope) -> Formula:
    """There is a key, and every key is in the scope."""
    return both(Filled(KEYS), Every(KEYS, scope.holds(ELEMENT)))


def outside(scope: Scope) -> Formula:
    """Some key is outside of the scope."""
    return Some(KEYS, negated(scope.holds(ELEMENT)))


def foreign(scope: Scope) -> Formula:
    """Some key belongs to another owner."""
    same = Like(Piece(OTHER), (Ref(scope.tags[-1]),))
    another = both(Single(OTHER), Filled(OTHER), negated(both(Single(scope.tags[-1]), same)))
    return both(another, Some(KEYS, scope.of_another().holds(ELEMENT)))


def place(deployment: Deployment, service: str, name: Formula) -> Formula:
    texts = (deployment.partition, service, deployment.region, deployment.account)
    return both(*(is_text(key, text) for key, text in zip(ARN, texts, strict=False)), name)


def on_table(model: Model, deployment: Deployment) -> Formula:
    """The table, and for queries its indexes."""
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


def shows_hidden(role: RoleMeaning) -> Formula:
    """The request could reveal a hidden attribute: by name, with a whole item, or through a key that contains it."""
    if not role.hidden:
        return FALSE
    named = Some(ATTRIBUTES, one_of(ELEMENT, *role.hidden))
    whole = both(acts(*READS), negated(one_of(SELECT, *SOME_ATTRIBUTES)))
    returned = both(acts(*RETURNING), negated(is_text(RETURNED, "NONE")))
    return either(both(of_service("dynamodb"), either(named, by_hidden_key(role))), whole, returned)


def by_hidden_key(role: RoleMeaning) -> Formula:
    scope = role.rows
    patterns = (parts(pattern) for pattern in role.hidden_keys)
    keys = (matches(ELEMENT, (*scope.prefix, scope.delimiter, *pattern), scope.split) for pattern in patterns)
    tags = (both(Single(tag), Filled(tag)) for tag in scope.tags)
    return both(*tags, Some(KEYS, either(*keys))) if role.hidden_keys else FALSE


def tenant_role_means(model: Model, deployment: Deployment) -> Formula:
    rows = both(acts(*ITEM_ACTIONS), own_rows(TENANT_ROWS), on_table(model, deployment))
    return either(rows, table_key(deployment))


def session_grants(role: RoleMeaning) -> Formula:
    """What the role's policy may grant before its denials apply."""
    return either(both(acts(*role.actions), own_rows(role.rows)), any_table_key())


def session_means(role: RoleMeaning) -> Formula:
    return both(session_grants(role), negated(shows_hidden(role)))


def gateway_means(deployment: Deployment) -> Formula:
    starts = one_of(ACTION, "sts:assumerole", "sts:tagsession", "sts:setsourceidentity")
    parts_of_arn = zip(ARN, deployment.tenant_role.split(":", 5)[1:], strict=True)
    return both(starts, *(both(Present(key), is_text(key, text)) for key, text in parts_of_arn))


def endpoint_means(model: Model, deployment: Deployment) -> Formula:
    table = f"table/{deployment.table}"
    names = one_of(ARN[-1], table, *(f"{table}/index/{index.name}" for index in model.table.indexes))
    caller = both(is_text("aws:principalarn", deployment.tenant_role), Filled(TENANT))
    return both(acts(*ITEM_ACTIONS), place(deployment, "dynamodb", names), caller)


def is_gateway(deployment: Deployment) -> Formula:
    return either(*(is_text(key, deployment.gateway_role) for key in (CALLER, CALLER_SESSION)))


def trust_means(deployment: Deployment, roles: Iterable[str] = ROLE_NAMES) -> Formula:
    """Only the gateway may use the three actions that start a session."""
    tagged = both(matches(REQUESTED_TENANT, parts("??*")), one_of(REQUESTED_ROLE, *roles))
    alone = both(Filled(_TAG_KEYS), Every(_TAG_KEYS, one_of(ELEMENT, TENANT_TAG, ROLE_TAG)), negated(Filled(_CARRIED)))
    allowed = {
        "sts:assumerole": both(tagged, Filled(_SOURCE)),
        "sts:tagsession": both(tagged, alone),
        "sts:setsourceidentity": TRUE,
    }
    cases = (both(is_text(ACTION, action), condition) for action, condition in allowed.items())
    return both(is_gateway(deployment), either(*cases))


def exactly_two_tags() -> Formula:
    """The tags of a new session are a tenant and a role, and no others."""
    only = Every(_TAG_KEYS, one_of(ELEMENT, TENANT_TAG, ROLE_TAG))
    tags = (Some(_TAG_KEYS, is_text(ELEMENT, tag)) for tag in (TENANT_TAG, ROLE_TAG))
    return both(only, *tags, Filled(REQUESTED_TENANT), Filled(REQUESTED_ROLE), negated(Filled(_CARRIED)))


def tag_keys_match_request_tags() -> Formula:
    """AWS sets `aws:TagKeys` and `aws:RequestTag/...` from the same tags."""
    pairs = ((REQUESTED_TENANT, TENANT_TAG), (REQUESTED_ROLE, ROLE_TAG))
    linked = ((Present(key), Some(_TAG_KEYS, is_text(ELEMENT, tag))) for key, tag in pairs)
    return both(*(either(both(key, named), both(negated(key), negated(named))) for key, named in linked))
