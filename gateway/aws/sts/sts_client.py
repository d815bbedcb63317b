"""Calls AssumeRole over the same HTTP client as DynamoDB: sends a signed form, and checks every part of the XML."""

import ssl
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from functools import lru_cache
from urllib.parse import quote, urlencode

import boto3

from gateway.aws.sts.assume_role import AssumeRole, Sts, session_arn
from gateway.aws.sts.error_codes import failure, own_rejected, unanswered
from gateway.aws.sts.own_credentials import OwnCredentials
from gateway.aws.wire.client import AwsClient, Service
from gateway.aws.wire.connection import WireLimits
from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.endpoint import AwsTarget, endpoint
from gateway.aws.wire.errors import AnswerCorrupt, AwsError
from gateway.aws.wire.response import AwsResponse
from gateway.aws.wire.retry import RetryRules
from gateway.aws.wire.signer import Form
from gateway.aws.wire.xml_response import NotReadable, texts
from gateway.errors import DeadlineExceeded, IsolationBreach

_CONTENT_TYPE = "application/x-www-form-urlencoded; charset=utf-8"
_LIMITS = WireLimits(connections=16, total_seconds=20.0, answer_bytes=256 * 1024)
_RETRY = RetryRules(attempts=3)
_RESULT = "AssumeRoleResult/"


async def _at_once() -> None:
    """Does not wait."""


class StsClient(Sts):
    """Calls STS with the gateway's own credentials, at the regional endpoint or a configured one."""

    def __init__(
        self,
        session: boto3.Session,
        *,
        endpoint_url: str | None = None,
        limits: WireLimits = _LIMITS,
        retry: RetryRules = _RETRY,
        tls: ssl.SSLContext | None = None,
        before_retry: Callable[[], Awaitable[None]] = _at_once,
    ) -> None:
        self._own = OwnCredentials(session)
        self._endpoint_url = endpoint_url
        self._client = AwsClient(Service("sts", _form, _body), limits, retry, tls=tls, before_retry=before_retry)
        self._targets: dict[str, AwsTarget] = {}

    async def assume_role(self, request: AssumeRole) -> Credentials:
        target = self._targets.get(request.region) or self._add_target(request.region)
        own = await self._own.get()
        try:
            body = await self._client.send("AssumeRole", written_form(request), credentials=own, target=target)
        except (AwsError, DeadlineExceeded) as error:
            if own_rejected(error):
                self._own.forget()
            raise unanswered(error) from error
        return verified(request, _texts(body))

    async def close(self) -> None:
        await self._own.close()
        await self._client.close()

    def _add_target(self, region: str) -> AwsTarget:
        target = self._targets[region] = sts_target(region, self._endpoint_url)
        return target


def sts_target(region: str, endpoint_url: str | None) -> AwsTarget:
    """Returns the endpoint; it is always explicit, never the global endpoint or one from the environment."""
    return AwsTarget(endpoint_url, region) if endpoint_url else AwsTarget.regional("sts", region)


def written_form(request: AssumeRole) -> bytes:
    """Encodes the request as the form that STS expects."""
    members = {
        "Action": "AssumeRole",
        "Version": "2011-06-15",
        "RoleArn": request.role_arn,
        "RoleSessionName": request.session_name,
        "SourceIdentity": request.source_identity,
        "DurationSeconds": str(request.seconds),
    }
    for number, (key, value) in enumerate(request.tags, 1):
        members[f"Tags.member.{number}.Key"] = key
        members[f"Tags.member.{number}.Value"] = value
    if request.external_id is not None:
        members["ExternalId"] = request.external_id
    return f"{urlencode(members)}&Policy={_quoted(request.policy)}".encode("ascii")


@lru_cache(maxsize=64)
def _quoted(policy: str) -> str:
    """Cached, because quoting a policy takes longer than the rest of the request, and there is one per role."""
    return quote(policy, safe="")


def verified(request: AssumeRole, answer: Mapping[str, str]) -> Credentials:
    """Returns the credentials if they belong to the requested session."""
    try:
        named = answer[f"{_RESULT}AssumedRoleUser/Arn"], answer[f"{_RESULT}SourceIdentity"]
        credentials = Credentials(
            answer[f"{_RESULT}Credentials/AccessKeyId"],
            answer[f"{_RESULT}Credentials/SecretAccessKey"],
            answer[f"{_RESULT}Credentials/SessionToken"],
            _epoch_seconds(answer[f"{_RESULT}Credentials/Expiration"]),
        )
    except (KeyError, ValueError) as error:
        raise AnswerCorrupt("the answer of sts is incomplete") from error
    # without a session token they would be long-term credentials, not those of a session
    if not all((credentials.access_key, credentials.secret_key, credentials.session_token)):
        raise AnswerCorrupt("the answer of sts is incomplete")
    # INVARIANT: credentials of another role, tenant or subject are never used, whoever mixed them up.
    if named != (session_arn(request.role_arn, request.session_name), request.source_identity):
        raise IsolationBreach("sts answered with the credentials of another session")
    return credentials


def _epoch_seconds(text: str) -> float:
    expiration = datetime.fromisoformat(text)
    if expiration.tzinfo is None:
        raise ValueError("a time without a zone")
    return expiration.timestamp()


def _form(target: AwsTarget, operation: str) -> Form:
    return Form(endpoint(target).authority, _CONTENT_TYPE, None)


def _body(answer: AwsResponse) -> bytes:
    if answer.status != 200:
        raise failure(answer)
    return answer.body


def _texts(body: bytes) -> Mapping[str, str]:
    try:
        return texts(body)
    except NotReadable as error:
        raise AnswerCorrupt("sts gave no answer that can be read") from error
