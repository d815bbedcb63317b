"""The STS of the sandbox: AssumeRole, authorized as AWS does it, and GetCallerIdentity."""

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from time import gmtime, strftime
from typing import NoReturn
from urllib.parse import parse_qsl

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
        identity = {"Arn": caller.arn, "UserId": caller.user_id, "Account": self._account.number}
        return "".join(element(name, text) for name, text in identity.items())

    def _assume(self, caller: KeyHolder, request: RoleRequest) -> str:
        role = self._account.roles.get(request.role_arn)
        trusted_caller = caller.trusted
        # like AWS, do not reveal whether a role exists that the caller may not assume
        if role is None or trusted_caller is None:
            _refuse(
                caller,
                Deny("no such role, or this caller may not assume it", "request", action="sts:AssumeRole"),
                request,
            )
        verdict = assume(request, role.trusted, trusted_caller)
        if isinstance(verdict, Invalid):
            raise AwsFault(verdict.code, verdict.message)
        # INVARIANT: only an `Allow` gives a session.
        if not isinstance(verdict, Allow):
            _refuse(caller, verdict, request)
        if request.policy_arns:
            raise AwsFault("ValidationError", "the sandbox has no managed policies: send the session policy as text")
        session = self._session(role, trusted_caller, request)
        self._registry.add(session)
        return _session_xml(session, request)

    def _session(self, role: AccountRole, trusted_caller: TrustedCaller, request: RoleRequest) -> KeyHolder:
        now = self._clock()
        arn = assumed(request.role_arn, request.session_name)
        tags = session_tags(request, role.trusted, trusted_caller)
        passed = {key.lower() for key in request.transitive_tag_keys}
        inherited = {key: value for key, value in request.tags if key.lower() in passed}
        source = request.source_identity or trusted_caller.source_identity
        policy = (parse(request.policy, "session"),) if request.policy is not None else None
        policies = PolicySet(role.identity, policy, role.boundary)
        user_id = f"AROA{unique_id()}:{request.session_name}"
        principal: dict[str, Value] = {
            "aws:PrincipalArn": request.role_arn,
            "aws:PrincipalAccount": self._account.number,
            "aws:PrincipalType": "AssumedRole",
            "aws:TokenIssueTime": _timestamp(now),
            "aws:userid": user_id,
            **({"aws:SourceIdentity": source} if source else {}),
            **{f"aws:PrincipalTag/{key}": value for key, value in tags.items()},
        }
        keys = session_keys(int(now) + request.duration_seconds)
        trusted = TrustedCaller(
            request.role_arn, policies, arn, tags, {**trusted_caller.transitive_tags, **inherited}, source
        )
        return KeyHolder(keys, arn, user_id, policies, principal, trusted)


def _refuse(caller: KeyHolder, verdict: Deny, request: RoleRequest) -> NoReturn:
    _log.info("denied AssumeRole to %s: %s", caller.arn, verdict.reason)
    # the message of STS names neither the policy nor the condition
    bare = Deny(verdict.reason, "", action=verdict.action or "sts:AssumeRole", resource=request.role_arn)
    raise denied(caller, "sts:AssumeRole", bare)


def _session_xml(session: KeyHolder, request: RoleRequest) -> str:
    keys = session.credentials
    credentials = {
        "AccessKeyId": keys.access_key,
        "SecretAccessKey": keys.secret_key,
        "SessionToken": keys.session_token or "",
        "Expiration": _timestamp(keys.expires_at),
    }
    user = element("AssumedRoleId", session.user_id) + element("Arn", session.arn)
    source = element("SourceIdentity", request.source_identity) if request.source_identity else ""
    return (
        f"<AssumedRoleUser>{user}</AssumedRoleUser>"
        f"<Credentials>{''.join(element(name, text) for name, text in credentials.items())}</Credentials>"
        f"{element('PackedPolicySize', str(packed_percent(request)))}{source}"
    )


def _timestamp(seconds: float) -> str:
    return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(seconds))


_SINGLE = frozenset(
    ("Action", "Version", "RoleArn", "RoleSessionName", "DurationSeconds", "Policy", "ExternalId", "SourceIdentity")
)
_MEMBER = r"\.member\.([1-9]\d{0,2})"
_LISTED = {
    "tag keys": re.compile(rf"Tags{_MEMBER}\.Key"),
    "tag values": re.compile(rf"Tags{_MEMBER}\.Value"),
    "transitive": re.compile(rf"TransitiveTagKeys{_MEMBER}"),
    "policies": re.compile(rf"PolicyArns{_MEMBER}\.arn"),
}


def read_form(body: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, strict_parsing=bool(body), errors="strict")
    except ValueError as error:
        raise AwsFault("MalformedQueryString", "The query string contains a syntax error.") from error
    form = dict(pairs)
    if len(form) != len(pairs):
        raise AwsFault("MalformedQueryString", "A parameter was sent more than once.")
    return form


def role_request(form: Mapping[str, str]) -> RoleRequest:
    listed = (pattern.fullmatch for pattern in _LISTED.values())
    parameters = _SINGLE.union(name for matches in listed for name in form if matches(name))
    # boto3 sends an empty list as its name without a value
    parameters |= {name for name in ("Tags", "TransitiveTagKeys", "PolicyArns") if form.get(name) == ""}
    unknown = sorted(form.keys() - parameters)
    if unknown:
        raise AwsFault("ValidationError", f"the sandbox does not support the parameter {unknown[0]}")
    duration = form.get("DurationSeconds", "3600")
    if not re.fullmatch(r"\d{1,6}", duration):
        raise AwsFault("ValidationError", "DurationSeconds must be a number")
    keys, values = dict(_listed(form, "tag keys")), dict(_listed(form, "tag values"))
    if keys.keys() != values.keys():
        raise AwsFault("ValidationError", "a tag must have a Key and a Value")
    return RoleRequest(
        role_arn=form.get("RoleArn", ""),
        session_name=form.get("RoleSessionName", ""),
        duration_seconds=int(duration),
        policy=form.get("Policy"),
        policy_arns=tuple(text for _, text in _listed(form, "policies")),
        tags=tuple((key, values[number]) for number, key in keys.items()),
        transitive_tag_keys=tuple(text for _, text in _listed(form, "transitive")),
        external_id=form.get("ExternalId"),
        source_identity=form.get("SourceIdentity"),
    )


def _listed(form: Mapping[str, str], kind: str) -> Iterator[tuple[int, str]]:
    for parameter, text in form.items():
        match = _LISTED[kind].fullmatch(parameter)
        if match:
            yield int(match[1]), text
