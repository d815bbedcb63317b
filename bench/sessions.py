"""What ten thousand tenants in one process cost. Run it with `python -m bench.sessions`."""

import asyncio
import gc
import time
import tracemalloc
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import boto3

from bench.wire import stub
from gateway.aws.sts.assume_role import AssumeRole, Sts
from gateway.aws.sts.call_rate import CallRate
from gateway.aws.sts.roles import Roles
from gateway.aws.sts.session import SessionRules
from gateway.aws.sts.sessions import Sessions
from gateway.aws.sts.sts_client import StsClient
from gateway.aws.sts.tenants import Tenancy, Tenants
from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.endpoint import AwsTarget
from gateway.aws.wire.signer import Form, Signer
from gateway.demo import MODEL
from gateway.iam.dynamodb.key_schemas import KeySchema, TableRegistry
from gateway.iam.dynamodb.permissions import Permissions
from gateway.iam.dynamodb.shared_permissions import SharedPermissions
from gateway.iam.language.document import PolicyDocument, parse
from gateway.iam.language.evaluator import PolicySet
from gateway.iam.policies.deployment import Deployment, render
from gateway.iam.policies.generate import TENANT_FILE, documents, kind_of, session_file
from gateway.identity.principal import Principal
from gateway.model.tenant import TenantId, tenant_id

TENANTS = 10_000
ROUNDS = 3
# calls to STS that may begin within a second at a restart; an account has 600
RATE = 500
# with its mark of 12 as long as the session tokens of STS with a policy and tags; `bench.wire` assumes the same
TOKEN = "t" * 788
ROLE_ARN = "arn:aws:iam::123456789012:role/gateway-tenant"
POOLED = Tenancy("app", ROLE_ARN, AwsTarget.regional("dynamodb", "eu-west-1"), "eu-west-1")


class CountedSts:
    """Answers at once: what is measured is ours."""

    def __init__(self) -> None:
        self.calls: dict[str, int] = {}

    async def assume_role(self, request: AssumeRole) -> Credentials:
        await asyncio.sleep(0)
        count = self.calls[request.session_name] = self.calls.get(request.session_name, 0) + 1
        mark = f"{len(self.calls):08d}{count:04d}"
        return Credentials(f"ASIA{mark}", f"{mark}{'s' * 28}", f"{mark}{TOKEN}", time.time() + request.seconds)


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one of something, alive."""

    milliseconds: float
    kilobytes: float


def shipped(name: str) -> PolicyDocument:
    deployment = Deployment.of_role(ROLE_ARN, "eu-west-1", POOLED.table, "arn:aws:iam::123456789012:role/gateway")
    return parse(render(documents(MODEL)[name], deployment), kind_of(name))


def sessions_over(sts: Sts, rate: CallRate | None = None) -> Sessions:
    viewer = shipped(session_file("viewer"))
    policies = PolicySet((shipped(TENANT_FILE),), (viewer,))
    place = TableRegistry("eu-west-1", "123456789012", tables={POOLED.table: KeySchema("PK")})
    shared = SharedPermissions(policies, {}, place)

    def permissions_for(tenancy: Tenancy, tenant: TenantId, role: str, subject: str | None) -> Permissions:
        return Permissions.of_tenant(shared, tenant, subject)

    # what a session costs is measured, not what the rate makes it wait
    rules = SessionRules(calls_per_second=2_000)
    return Sessions(sts, Tenants(POOLED), Roles({"viewer": viewer}), permissions_for, rules, rate=rate)


def measured(count: int, make: Callable[[], object]) -> Cost:
    """CPU and memory of `count` things that stay alive; CPU is taken with the memory not watched."""
    started = time.process_time()
    kept = [make() for _ in range(count)]
    spent = time.process_time() - started
    kept.clear()
    tracemalloc.start()
    kept = [make() for _ in range(count)]
    gc.collect()
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    kept.clear()
    return Cost(spent / count * 1_000, size / count / 1_000)


async def open_all(sessions: Sessions, principals: list[Principal]) -> float:
    started = time.process_time()
    for start in range(0, len(principals), 500):
        await asyncio.gather(*(sessions.open(principal) for principal in principals[start : start + 500]))
    return time.process_time() - started


async def use_all(sessions: Sessions, principals: list[Principal]) -> None:
    """What a query leaves behind in each session: the signing key of the day, and what its permissions remember."""
    signer = Signer("dynamodb", "eu-west-1")
    form = Form("dynamodb.eu-west-1.amazonaws.com", "application/x-amz-json-1.0", "DynamoDB_20120810.Query")
    for principal in principals:
        session = await sessions.open(principal)
        body = {
            "TableName": POOLED.table,
            "KeyConditionExpression": "PK = :pk",
            "ExpressionAttributeValues": {":pk": {"S": f"TENANT#{principal.tenant}#USER#1"}},
        }
        session.permissions.check("Query", body)
        signer.request(form, session.credentials, b"{}", time.time())


async def ours(principals: list[Principal]) -> tuple[Cost, float]:
    """What a tenant costs, and the CPU microseconds of opening a session that is kept."""
    sts = CountedSts()
    cold = await open_all(sessions_over(sts), principals)
    assert len(sts.calls) == TENANTS
    assert set(sts.calls.values()) == {1}, "more than one call to STS for a tenant"
    # the memory by another one, filled while it is watched; what counts the calls does not count
    sts = CountedSts()
    watched = sessions_over(sts)
    gc.collect()
    tracemalloc.start()
    await open_all(watched, principals)
    await use_all(watched, principals)
    sts.calls.clear()
    # the tasks of the last ones end
    await asyncio.sleep(0.1)
    gc.collect()
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    warm = []
    for _ in range(ROUNDS):
        started = time.process_time()
        for principal in principals:
            await watched.open(principal)
        warm.append(time.process_time() - started)
    assert sts.calls == {}, "a kept session was opened again"
    return Cost(cold / TENANTS * 1_000, size / TENANTS / 1_000), min(warm) / TENANTS * 1_000_000


async def over_the_wire(principals: list[Principal], url: str) -> float:
    """CPU milliseconds of opening one session by AssumeRole at a server in another process."""
    sts = StsClient(boto3.Session("AKIAGATEWAY", "secret", region_name="eu-west-1"), endpoint_url=url)
    sessions = sessions_over(sts)
    spent = await open_all(sessions, principals)
    await sessions.close()
    await sts.close()
    return spent / len(principals) * 1_000


@dataclass(frozen=True, slots=True)
class Restart:
    """All tenants opened at start, while callers ask for some of them."""

    seconds: float
    most_in_a_second: int
    median_wait: float
    longest_wait: float


async def restarted(principals: list[Principal], url: str) -> Restart:
    """The warm-up in one process at a rate of `RATE`; ten callers a second ask for tenants at the end of the list."""
    starts: list[float] = []
    waits: list[float] = []
    rate = CallRate(RATE, SessionRules().calls)
    sts = StsClient(
        boto3.Session("AKIAGATEWAY", "secret", region_name="eu-west-1"), endpoint_url=url, before_retry=rate.retry
    )

    class Watched(Sts):
        async def assume_role(self, request: AssumeRole) -> Credentials:
            starts.append(time.perf_counter())
            return await sts.assume_role(request)

    sessions = sessions_over(Watched(), rate)
    # the gateway's own credentials are read once, before anything else
    await sessions.open(principals[0])
    began = time.perf_counter()
    warming = asyncio.create_task(sessions.warm_up((principal.tenant for principal in principals), ("viewer",)))
    for principal in reversed(principals):
        if warming.done():
            break
        began = time.perf_counter()
        await sessions.open(principal)
        waits.append(time.perf_counter() - began)
        await asyncio.wait((warming,), timeout=0.1)
    await warming
    spent = time.perf_counter() - began
    assert len(sessions) == len(starts) == len(principals), "not one call for each tenant"
    await sessions.close()
    await sts.close()
    most = max(bisect_left(starts, start + 1.0) - number for number, start in enumerate(starts))
    return Restart(spent, most, median(waits), max(waits))


def boto_session() -> object:
    session = boto3.Session(aws_access_key_id="a", aws_secret_access_key="b", region_name="eu-west-1")
    return session, session.client("dynamodb")


def boto_clients() -> Callable[[], object]:
    session = boto3.Session(region_name="eu-west-1")
    session.client("dynamodb")
    return lambda: session.client("dynamodb", aws_access_key_id="a", aws_secret_access_key="b")


def line(what: str, cost: Cost, own: Cost, measured_on: int) -> str:
    note = "measured" if measured_on == TENANTS else f"extrapolated from {measured_on}"
    total = cost.kilobytes * TENANTS / 1_000
    return (
        f"{what:<42}{cost.milliseconds:>10.2f} ms{cost.kilobytes:>10.1f} KB{total:>12,.0f} MB"
        f"{cost.milliseconds / own.milliseconds:>8,.0f} x{cost.kilobytes / own.kilobytes:>8,.0f} x   {note}"
    )


def main() -> None:
    principals = [
        Principal(tenant_id(f"tenant-{number}"), "ann", frozenset({"viewer"}), "https://issuer.example", 2_000_000_000)
        for number in range(TENANTS)
    ]
    own, microseconds = asyncio.run(ours(principals))
    with stub() as url:
        wire = asyncio.run(over_the_wire(principals, url))
        restart = asyncio.run(restarted(principals, url))
    one_session = measured(20, boto_clients())
    sessions = measured(2, boto_session)
    print(f"{TENANTS:,} tenants: {TENANTS:,} calls to STS, one for each; a kept session opens in {microseconds:.1f} us")
    print(
        f"a tenant after a query: {own.kilobytes * 1_000:,.0f} bytes, of which its session token is {len(TOKEN) + 12}"
    )
    print(f"AssumeRole over the wire: {wire:.2f} ms of CPU for each session")
    print(
        f"all of them opened at start, {RATE} a second allowed: {restart.seconds:.0f} s, at most "
        f"{restart.most_in_a_second} in any second; callers meanwhile waited "
        f"{restart.median_wait * 1_000:.0f} ms by the median, {restart.longest_wait * 1_000:.0f} ms at most"
    )
    print(f"{'':<42}{'CPU each':>13}{'memory each':>13}{'all of them':>15}{'CPU':>10}{'memory':>10}")
    print(line("sessions of the gateway", own, own, TENANTS))
    print(line("boto3 clients on one session", one_session, own, 20))
    print(line("boto3 session and client per tenant", sessions, own, 2))


if __name__ == "__main__":
    main()
