"""The simulation finds defects: each is planted here, and a history has to tell it."""

from collections.abc import Callable
from typing import Any

import pytest

from gateway.aws.sts.session import Session
from gateway.aws.sts.sessions import Sessions
from gateway.aws.sts.tenants import Tenants
from gateway.model.tenant import tenant_id
from gateway.store.cache import cache, read_path, segment
from gateway.store.cache.keeper import Keeper
from gateway.store.cache.read_path import ReadKey
from gateway.store.cache.recent_writes import RecentWrites
from gateway.store.cache.segments import Segments
from gateway.store.write.idempotency import Records
from tests.simulation.run import one

pytestmark = pytest.mark.slow

SEEDS = 150
# seeds that found a defect which few find; they are tried first, then all from 0 on
FOUND = (20, 25, 58)
EVERYBODY = tenant_id("everybody")
_OF = Segments.of
_TOO_OLD = "older than declared"
_OWN_WRITE = "before a change that this process had acknowledged"


def _without_tenant(read: Callable[..., ReadKey]) -> Callable[..., ReadKey]:
    """The tenant is the first part of a key, and stands in the partition once more."""

    def made(session: Any, *given: Any) -> ReadKey:
        found = read(session, *given)
        return found._replace(tenant=EVERYBODY, partition=found.partition.replace(session.tenant, "", 1))

    return made


DEFECTS: dict[str, tuple[list[tuple[Any, str, Any]], str]] = {
    "own writes do not drop what is kept": ([(Keeper, "_forget_written", lambda *given: None)], _OWN_WRITE),
    "own writes are not remembered while replicas lag": ([(RecentWrites, "note", lambda *given: None)], _OWN_WRITE),
    "a read that began before a write answers after it": ([(Keeper, "joins", lambda *given: True)], _OWN_WRITE),
    "answers are kept for twice their time": ([(segment, "_SERVES", (1.9, 2.0))], _TOO_OLD),
    "an expired session is handed out": ([(Session, "serves", lambda *given: True)], "of its end"),
    "a suspended tenant is served": ([(Tenants, "suspend", lambda *given: None)], "while the tenant was suspended"),
    "a suspended tenant's answers are kept": ([(Keeper, "forget", lambda *given: None)], _TOO_OLD),
    "keys of the cache have no tenant": (
        [
            (cache, "item_read", _without_tenant(read_path.item_read)),
            (cache, "page_read", _without_tenant(read_path.page_read)),
            (Segments, "of", lambda segments, tenant: _OF(segments, EVERYBODY)),
        ],
        "a row of another tenant was read",
    ),
    "a change leaves no record": ([(Records, "write", lambda *given: None)], "are recorded"),
    "a session is of whoever asked first": (
        [(Sessions, "_serving", lambda sessions, key: next(iter(sessions._kept.live.values()), None))],
        "met the session of another",
    ),
}


@pytest.mark.no_cover
@pytest.mark.parametrize("defect", DEFECTS)
def test_a_planted_defect_is_found(defect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    changes, expected = DEFECTS[defect]
    for owner, name, replacement in changes:
        monkeypatch.setattr(owner, name, replacement)
    seeds = (0, 1, *FOUND, *range(SEEDS))
    assert any(expected in fault for seed in seeds for fault in one(seed)[0].check())
