"""What 100,000 subjects of 1,000 tenants cost in one process, each with a session of its own rows.

Run it with `python -m bench subjects`.
"""

import asyncio
import gc
import time
import tracemalloc
from collections.abc import Iterable, Sequence

from bench.sessions import POOLED, TOKEN, shipped
from gateway.aws.sts.assume_role import AssumeRole
from gateway.aws.sts.roles import Roles
from gateway.aws.sts.session import SessionRules
from gateway.aws.sts.sessions import Sessions
from gateway.aws.sts.tenants import Tenancy, Tenants
from gateway.aws.wire.credentials import Credentials
from gateway.demo import MODEL
from gateway.iam.dynamodb.permissions import Permissions
from gateway.iam.policies.generate import session_file
from gateway.iam.policies.policies import generated
from gateway.identity.principal import Principal
from gateway.model.tenant import TenantId, tenant_id
from gateway.ops.policies.files import permissions_for

SUBJECTS = 100_000
TENANTS = 1_000
ROLE = "customer"
HOUR = 3_600.0
REQUESTS = 100_000
FEW = 100


class AnsweringSts:
    """Answers at once, by the clock of the benchmark: what is measured is ours."""

    def __init__(self, clock: "Clock") -> None:
        self.count = 0
        self._clock = clock

    async def assume_role(self, request: AssumeRole) -> Credentials:
        await asyncio.sleep(0)
        self.count += 1
        mark = f"{self.count:012d}"
        return Credentials(f"ASIA{mark}", f"{mark}{'s' * 28}", f"{mark}{TOKEN}", self._clock() + request.seconds)


class Clock:
    """Turned by hand, so that an hour passes at once."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


NAMES = [tenant_id(f"tenant-{number}") for number in range(TENANTS)]


def principals(numbers: Iterable[int] = range(SUBJECTS)) -> list[Principal]:
    return [
        Principal(
            NAMES[number % TENANTS],
            f"{number:08d}-0c5e-4a8e-9c2c-6f3f8d1a2b3c",
            frozenset({ROLE}),
            "https://issuer.example",
            2_000_000_000,
        )
        for number in numbers
    ]


def sessions_over(sts: AnsweringSts, clock: Clock, most: int = SUBJECTS) -> Sessions:
    found = permissions_for(generated(MODEL), MODEL)

    def permissions(tenancy: Tenancy, tenant: TenantId, role: str, subject: str | None) -> Permissions:
        return found(tenancy, tenant, role, subject)

    roles = Roles({ROLE: shipped(session_file(ROLE))}, (ROLE,))
    # what a session costs is measured, not what the rate makes it wait
    rules = SessionRules(calls_per_second=1_000_000, sessions=most)
    return Sessions(sts, Tenants(POOLED), roles, permissions, rules, clock=clock)


async def opened(sessions: Sessions, who: Sequence[Principal]) -> None:
    for start in range(0, len(who), 500):
        await asyncio.gather(*(sessions.open(principal) for principal in who[start : start + 500]))


async def request(sessions: Sessions, principal: Principal) -> None:
    """What a request of a subject does with its session: opens it, and authorises a Query of its own rows."""
    session = await sessions.open(principal)
    body = {
        "TableName": POOLED.table,
        "KeyConditionExpression": "PK = :pk",
        "ExpressionAttributeValues": {":pk": {"S": f"TENANT#{principal.tenant}#USER#{principal.subject}"}},
    }
    assert session.permissions.check("Query", body).allowed


async def microseconds(sessions: Sessions, who: Sequence[Principal]) -> float:
    """CPU of one request, by turns of these subjects."""
    await request(sessions, who[0])
    started = time.process_time()
    for number in range(REQUESTS):
        await request(sessions, who[number % len(who)])
    return (time.process_time() - started) / REQUESTS * 1_000_000


async def measured() -> None:
    clock = Clock()
    sts = AnsweringSts(clock)
    sessions = sessions_over(sts, clock)
    size = await bytes_of_each(sessions)
    calls = sts.count
    assert len(sessions) == calls == SUBJECTS, "not one session and one call for each subject"
    who = principals()
    shared = {id((await sessions.open(principal)).permissions.shared) for principal in who[:: SUBJECTS // 1_000]}
    rate = calls / HOUR
    print(f"{SUBJECTS:,} subjects of {TENANTS:,} tenants: {calls:,} calls to STS, {rate:.0f} a second over an hour")
    print(f"a session: {size:,.0f} bytes, of which its token is {len(TOKEN) + 12}; {len(shared)} shared permissions")
    few, many = await microseconds(sessions, who[:FEW]), await microseconds(sessions, who)
    print(f"CPU of a request: {few:.1f} us with {FEW} subjects by turns, {many:.1f} us with {SUBJECTS:,}")
    await idle(sessions, who, clock, sts)
    await sessions.close()


async def bytes_of_each(sessions: Sessions) -> float:
    """All that a session costs, with its subject and its share of the tables that keep it."""
    await opened(sessions, principals(range(FEW)))
    gc.collect()
    tracemalloc.start()
    for start in range(FEW, SUBJECTS, FEW):
        await opened(sessions, principals(range(start, start + FEW)))
    await asyncio.sleep(0.1)
    gc.collect()
    size = tracemalloc.get_traced_memory()[0] / (SUBJECTS - FEW)
    tracemalloc.stop()
    return size


async def refreshed(sts: AnsweringSts) -> None:
    """Until nothing more is asked of STS."""
    before = -1
    while before != sts.count:
        before = sts.count
        await asyncio.sleep(0.5)


async def idle(sessions: Sessions, who: Sequence[Principal], clock: Clock, sts: AnsweringSts) -> None:
    """A tenth of the subjects stay for the second hour."""
    active, before = who[: SUBJECTS // 10], sts.count
    for _ in range(4):
        clock.now += HOUR / 4 - 10
        await opened(sessions, active)
        await refreshed(sts)
    clock.now += HOUR / 4
    await opened(sessions, [who[-1]])
    print(
        f"an hour later, {len(active):,} of them active: {sts.count - before:,} further calls to STS, "
        f"{len(sessions):,} sessions kept"
    )


def main() -> None:
    asyncio.run(measured())


if __name__ == "__main__":
    main()
