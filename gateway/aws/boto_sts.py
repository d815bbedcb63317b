"""STS by boto3 in threads of its own: asked once an hour for each tenant and role, it may cost what boto3 costs."""

import asyncio
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from gateway.aws.credentials import Credentials
from gateway.aws.errors import AnswerCorrupt
from gateway.aws.sts import AssumeRole, Sts
from gateway.aws.sts_errors import answered, unanswered
from gateway.aws.target import Target
from gateway.errors import GatewayError, IsolationBreach

if TYPE_CHECKING:
    from mypy_boto3_sts import STSClient


@dataclass(frozen=True, slots=True)
class StsLimits:
    threads: int = 16
    connect_seconds: float = 2.0
    read_seconds: float = 5.0
    # the first one counts; standard mode: throttling, 5xx and broken connections only
    attempts: int = 3


_LIMITS = StsLimits()


class BotoSts(Sts):
    """Asks with the gateway's own credentials, which come from the boto3 session, at the regional endpoint."""

    def __init__(self, session: boto3.Session, limits: StsLimits = _LIMITS, *, endpoint_url: str | None = None) -> None:
        self._session = session
        self._endpoint_url = endpoint_url
        self._threads = ThreadPoolExecutor(limits.threads, thread_name_prefix="sts")
        self._config = Config(
            connect_timeout=limits.connect_seconds,
            read_timeout=limits.read_seconds,
            retries={"mode": "standard", "total_max_attempts": limits.attempts},
            max_pool_connections=limits.threads,
        )
        self._clients: dict[str, STSClient] = {}
        # a boto3 session makes one client at a time
        self._making = threading.Lock()

    async def assume_role(self, request: AssumeRole) -> Credentials:
        loop = asyncio.get_running_loop()
        try:
            answer = await loop.run_in_executor(self._threads, self._ask, request)
        except ClientError as error:
            raise answered(error) from error
        except BotoCoreError as error:
            raise unanswered(error) from error
        except GatewayError:
            raise
        except Exception as error:  # botocore meets an unexpected form of answer with any error of Python
            raise AnswerCorrupt("sts gave no answer that can be read") from error
        return verified(request, answer)

    async def close(self) -> None:
        """Drops what waits for a thread; what is under way ends by its timeouts."""
        await asyncio.to_thread(self._threads.shutdown, cancel_futures=True)
        for client in self._clients.values():
            client.close()

    def _ask(self, request: AssumeRole) -> Mapping[str, Any]:
        return self._client(request.region).assume_role(**arguments(request))

    def _client(self, region: str) -> "STSClient":
        with self._making:
            client = self._clients.get(region)
            if client is None:
                # Named, because boto3's own choice could be the global endpoint or one from the environment.
                url = self._endpoint_url or Target.regional("sts", region).url
                client = self._session.client("sts", region_name=region, endpoint_url=url, config=self._config)
                self._clients[region] = client
            return client


def arguments(request: AssumeRole) -> dict[str, Any]:
    """The request as boto3 takes it."""
    external = {} if request.external_id is None else {"ExternalId": request.external_id}
    return {
        "RoleArn": request.role_arn,
        "RoleSessionName": request.session_name,
        "SourceIdentity": request.source_identity,
        "Tags": [{"Key": key, "Value": value} for key, value in request.tags],
        "Policy": request.policy,
        "DurationSeconds": request.seconds,
        **external,
    }


def verified(request: AssumeRole, answer: Mapping[str, Any]) -> Credentials:
    """The credentials, where they are those of the session that was asked for."""
    try:
        given = answer["Credentials"]
        named = answer["AssumedRoleUser"]["Arn"], answer["SourceIdentity"]
        credentials = Credentials(
            given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"], given["Expiration"].timestamp()
        )
    except (KeyError, AttributeError, TypeError) as error:
        raise AnswerCorrupt("the answer of sts is incomplete") from error
    # without a session token they would be somebody's own, and no session's
    if not all((credentials.access_key, credentials.secret_key, credentials.session_token)):
        raise AnswerCorrupt("the answer of sts is incomplete")
    # INVARIANT: credentials of another role, tenant or subject are never used, whoever mixed them up.
    if named != (_assumed(request), request.source_identity):
        raise IsolationBreach("sts answered with the credentials of another session")
    return credentials


def _assumed(request: AssumeRole) -> str:
    return session_arn(request.role_arn, request.session_name)


def session_arn(role_arn: str, session_name: str) -> str:
    """The ARN of the session: it has the role's partition and account, and the role's name without its path."""
    _, partition, _, _, account, role = role_arn.split(":", 5)
    return f"arn:{partition}:sts::{account}:assumed-role/{role.rpartition('/')[2]}/{session_name}"
