"""The sandbox's AWS account: its roles, and who holds which access key."""

import base64
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway.aws.wire.credentials import Credentials
from gateway.iam.language.document import PolicyDocument
from gateway.iam.language.evaluator import PolicySet
from gateway.iam.language.variables import Value
from gateway.iam.sts import trust

_KEPT = 20_000


@dataclass(frozen=True, slots=True)
class AccountRole:
    """An IAM role: who may assume it, and what its sessions may do at most."""

    trusted: trust.AssumableRole
    identity: tuple[PolicyDocument, ...]
    boundary: PolicyDocument | None = None


@dataclass(frozen=True, slots=True)
class Account:
    number: str
    region: str
    # by ARN
    roles: Mapping[str, AccountRole] = field(default_factory=dict)

    def role_arn(self, name: str) -> str:
        return f"arn:aws:iam::{self.number}:role/{name}"


@dataclass(frozen=True, slots=True)
class KeyHolder:
    """Who holds an access key, and what that lets them do."""

    credentials: Credentials
    arn: str
    user_id: str
    # None for the administrator of the account, who is not limited by policies; the gateway never gets that key
    policies: PolicySet | None
    # the condition keys about the caller: tags, source identity, when the session began
    principal: Mapping[str, Value] = field(default_factory=dict)
    # the identity with which it may assume a role
    trusted: trust.AssumingCaller | None = None


class Registry:
    """Every access key that was issued; of session keys, the most recent ones."""

    def __init__(self, kept: int = _KEPT) -> None:
        self._kept = kept
        self._lasting: dict[str, KeyHolder] = {}
        self._sessions: dict[str, KeyHolder] = {}

    def add(self, caller: KeyHolder) -> None:
        if caller.credentials.session_token is None:
            self._lasting[caller.credentials.access_key] = caller
            return
        self._sessions[caller.credentials.access_key] = caller
        while len(self._sessions) > self._kept:
            del self._sessions[next(iter(self._sessions))]

    def find(self, access_key: str) -> KeyHolder | None:
        return self._lasting.get(access_key) or self._sessions.get(access_key)


def administrator(account: Account) -> KeyHolder:
    """Creates and fills tables. Its keys are random at every start."""
    return KeyHolder(lasting_keys(), f"arn:aws:iam::{account.number}:root", account.number, policies=None)


def role_holder(account: Account, role: str, policies: tuple[PolicyDocument, ...]) -> KeyHolder:
    """A caller that runs in a role, as a container does on AWS; its keys last as long as the sandbox."""
    arn = account.role_arn(role)
    session_arn = assumed(arn, "sandbox")
    permitted = PolicySet(policies)
    return KeyHolder(
        lasting_keys(),
        session_arn,
        f"AROA{unique_id()}:sandbox",
        permitted,
        {"aws:PrincipalArn": arn, "aws:PrincipalAccount": account.number},
        trust.AssumingCaller(arn, permitted, session_arn),
    )


def assumed(role_arn: str, session: str) -> str:
    """The ARN of a session; it contains the role's name without its path."""
    number = role_arn.split(":")[4]
    return f"arn:aws:sts::{number}:assumed-role/{role_arn.rpartition('/')[2]}/{session}"


def same_token(expected: str | None, sent: str | None) -> bool:
    """Whether a session token is the one that was issued; an absent one equals none."""
    return hmac.compare_digest((expected or "").encode(), (sent or "").encode())


def lasting_keys() -> Credentials:
    return Credentials(f"AKIA{unique_id()}", secrets.token_urlsafe(30))


def session_keys(expires_at: float) -> Credentials:
    return Credentials(f"ASIA{unique_id()}", secrets.token_urlsafe(30), secrets.token_urlsafe(150), expires_at)


def unique_id() -> str:
    """Sixteen letters and digits, as in the ids of AWS."""
    return base64.b32encode(secrets.token_bytes(10)).decode()
