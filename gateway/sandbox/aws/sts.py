"""The sandbox's STS: AssumeRole judged as AWS judges it, and who one is."""

import logging
from collections.abc import Callable
from time import gmtime, strftime
from typing import NoReturn

from starlette.responses import Response

from gateway.iam.language.document import parse
from gateway.iam.language.evaluator import PolicySet
from gateway.iam.language.variables import Value
from gateway.iam.language.verdict import Allow, Deny
from gateway.iam.sts.assume_role import Invalid, RoleRequest, packed_percent
from gateway.iam.sts.trust import AssumingCaller as TrustedCaller
from gateway.iam.sts.trust import assume, session_tags
from gateway.sandbox.aws.account import Account, AccountRole, KeyHolder, Registry, assumed, session_keys, unique_id
from gateway.sandbox.aws.authorizer import denied
from gateway.sandbox.aws.responses import AwsFault, element, xml_answer
from gateway.sandbox.aws.sts_form import read_form, role_request

_log = logging.getLogger(__name__)


class SandboxSts:
    def __init__(self, account: Account, registry: Registry, clock: Callable[[], float]) -> None:
        self._account = account
        self._registry = registry
        self._clock = clock

    def answer(self, caller: KeyHolder, body: bytes) -> Response:
        form = read_form(body)
        match form.get("Action"):
            case "GetCallerIdentity":
                return xml_answer("GetCallerIdentity", self._identity(caller))
            case "AssumeRole":
                return xml_answer("AssumeRole", self._assume(caller, role_request(form)))
            case action:
                raise AwsFault("InvalidAction", f"Could not find operation {action or ''} for version 2011-06-15")

    def _identity(self, caller: KeyHolder) -> str:
        found = {"Arn": caller.arn, "UserId": caller.user_id, "Account": self._account.number}
        return "".join(element(name, text) for name, text in found.items())

    def _assume(self, caller: KeyHolder, request: RoleRequest) -> str:
        role = self._account.roles.get(request.role_arn)
        asking = caller.trusted
        # AWS does not tell either whether a role exists that one may not assume
        if role is None or asking is None:
            _refuse(caller, Deny("no such role, or not for this caller", "request", action="sts:AssumeRole"), request)
        verdict = assume(request, role.trusted, asking)
        if isinstance(verdict, Invalid):
            raise AwsFault(verdict.code, verdict.message)
        # INVARIANT: only an `Allow` gives a session.
        if not isinstance(verdict, Allow):
            _refuse(caller, verdict, request)
        if request.policy_arns:
            raise AwsFault("ValidationError", "the sandbox has no managed policies: send the session policy as text")
        session = self._session(role, asking, request)
        self._registry.add(session)
        return _session_xml(session, request)

    def _session(self, role: AccountRole, asking: TrustedCaller, request: RoleRequest) -> KeyHolder:
        now = self._clock()
        arn = assumed(request.role_arn, request.session_name)
        tags = session_tags(request, role.trusted, asking)
        passed = {key.lower() for key in request.transitive_tag_keys}
        inherited = {key: value for key, value in request.tags if key.lower() in passed}
        source = request.source_identity or asking.source_identity
        policy = (parse(request.policy, "session"),) if request.policy is not None else None
        policies = PolicySet(role.identity, policy, role.boundary)
        user_id = f"AROA{unique_id()}:{request.session_name}"
        principal: dict[str, Value] = {
            "aws:PrincipalArn": request.role_arn,
            "aws:PrincipalAccount": self._account.number,
            "aws:PrincipalType": "AssumedRole",
            "aws:TokenIssueTime": _moment(now),
            "aws:userid": user_id,
            **({"aws:SourceIdentity": source} if source else {}),
            **{f"aws:PrincipalTag/{key}": value for key, value in tags.items()},
        }
        keys = session_keys(int(now) + request.duration_seconds)
        trusted = TrustedCaller(request.role_arn, policies, arn, tags, {**asking.transitive_tags, **inherited}, source)
        return KeyHolder(keys, arn, user_id, policies, principal, trusted)


def _refuse(caller: KeyHolder, verdict: Deny, request: RoleRequest) -> NoReturn:
    _log.info("denied AssumeRole to %s: %s", caller.arn, verdict.reason)
    # the wording of STS says neither which policy nor which condition it was
    bare = Deny(verdict.reason, "", action=verdict.action or "sts:AssumeRole", resource=request.role_arn)
    raise denied(caller, "sts:AssumeRole", bare)


def _session_xml(session: KeyHolder, request: RoleRequest) -> str:
    keys = session.credentials
    credentials = {
        "AccessKeyId": keys.access_key,
        "SecretAccessKey": keys.secret_key,
        "SessionToken": keys.session_token or "",
        "Expiration": _moment(keys.expires_at),
    }
    user = element("AssumedRoleId", session.user_id) + element("Arn", session.arn)
    source = element("SourceIdentity", request.source_identity) if request.source_identity else ""
    return (
        f"<AssumedRoleUser>{user}</AssumedRoleUser>"
        f"<Credentials>{''.join(element(name, text) for name, text in credentials.items())}</Credentials>"
        f"{element('PackedPolicySize', str(packed_percent(request)))}{source}"
    )


def _moment(seconds: float) -> str:
    return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(seconds))
