"""A boto3 session in a role that the gateway assumes for itself, refreshed before it expires.

Tenants' sessions come from `Sessions`. This one is for resources without tenants, such as a DAX cluster or the table's
stream, which the gateway's own role must not access.
"""

import threading
from typing import TYPE_CHECKING, Any, Final

import boto3
from botocore.config import Config
from botocore.credentials import DeferredRefreshableCredentials
from botocore.session import get_session

from gateway.aws.sts.assume_role import session_arn
from gateway.aws.wire.endpoint import AwsTarget
from gateway.aws.wire.errors import AnswerCorrupt

if TYPE_CHECKING:
    from mypy_boto3_sts import STSClient

SESSION_NAME: Final = "gateway-dax"
_SECONDS: Final = 3_600  # the maximum for role chaining
_CONFIG: Final = Config(connect_timeout=2, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 3})


def in_role(
    session: boto3.Session, role_arn: str, region: str, sts_endpoint: str | None = None, name: str = SESSION_NAME
) -> boto3.Session:
    """Assumes the role with the credentials of `session`, when its own credentials are first needed."""
    # explicit, because boto3 could choose the global endpoint or one from the environment
    url = sts_endpoint or AwsTarget.regional("sts", region).url
    making = threading.Lock()

    def renewed() -> dict[str, Any]:
        with making:  # boto3 sessions do not support creating clients concurrently
            client = session.client("sts", region_name=region, endpoint_url=url, config=_CONFIG)
        try:
            return _assumed(client, role_arn, name)
        finally:
            client.close()

    botocore_session: Any = get_session()
    # botocore has no public way to give a session refreshable credentials
    botocore_session._credentials = DeferredRefreshableCredentials(renewed, "assume-role")  # noqa: SLF001
    return boto3.Session(botocore_session=botocore_session, region_name=region)


def _assumed(client: "STSClient", role_arn: str, name: str) -> dict[str, Any]:
    answer = client.assume_role(RoleArn=role_arn, RoleSessionName=name, DurationSeconds=_SECONDS)
    credentials = answer["Credentials"]
    # INVARIANT: credentials of another role are never used, whoever mixed them up.
    if answer["AssumedRoleUser"]["Arn"] != session_arn(role_arn, name):
        raise AnswerCorrupt("sts answered with the credentials of another role")
    return {
        "access_key": credentials["AccessKeyId"],
        "secret_key": credentials["SecretAccessKey"],
        "token": credentials["SessionToken"],
        "expiry_time": credentials["Expiration"].isoformat(),
    }
