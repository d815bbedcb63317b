"""Readiness: the process is ready once it has reached everything it depends on, until it drains.

A process that was ready stays ready even if AWS fails: otherwise all processes would become unready at the same time
and leave the load balancer without targets. The deep check reports the current state.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gateway.backoff import exponential
from gateway.ops.readiness.pool_check import PoolFault, TenantPool

_log = logging.getLogger("gateway.readiness")
_KEEP_SECONDS = 10.0
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 15.0

Faults = Callable[[TenantPool], Awaitable[tuple[PoolFault, ...]]]
Found = tuple[tuple[TenantPool, tuple[PoolFault, ...]], ...]


@dataclass(frozen=True, slots=True)
class ReadinessReport:
    """The faults of each pool."""

    faults: Found = ()

    @property
    def serves(self) -> bool:
        return not any(faults for pool, faults in self.faults if pool.required)

    def content(self) -> dict[str, Any]:
        """INVARIANT: anyone may request it, so it names no tenant, table, role or address; the log does."""
        required = [faults for pool, faults in self.faults if pool.required]
        silos = [faults for pool, faults in self.faults if not pool.required]
        wrong = [{"where": fault.where, "cause": fault.cause} for faults in required for fault in faults]
        return {
            "status": "ready" if self.serves else "unready",
            "pooled": (wrong or "ok") if required else "not checked: readiness_tenant is not set",
            "silos": {"checked": len(silos), "failed": sum(bool(faults) for faults in silos)},
        }


@dataclass(slots=True)
class Readiness:
    pools: Sequence[TenantPool]
    faults: Faults
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ready: bool = False
    _checking: asyncio.Lock = field(default_factory=asyncio.Lock)
    _last: tuple[float, ReadinessReport] | None = None

    def __post_init__(self) -> None:
        # without a tenant to check as, there is nothing to wait for
        self.ready = not any(pool.required for pool in self.pools)

    async def until_ready(self) -> None:
        """Checks at the start and repeats until everything is reachable."""
        if self.ready:
            _log.warning("the table that pooled tenants share is not checked: readiness_tenant is not set")
        attempt = 0
        while not (await self.check()).serves:
            await self.sleep(exponential(attempt, _FIRST_PAUSE, _LONGEST_PAUSE))
            self._last = None
            attempt += 1

    async def check(self) -> ReadinessReport:
        """The current state; results are cached for a few seconds, so that frequent checks cost nothing."""
        async with self._checking:
            if self._last is None or self.clock() - self._last[0] >= _KEEP_SECONDS:
                report = await self._checked()
                self._last = self.clock(), report
            return self._last[1]

    async def _checked(self) -> ReadinessReport:
        required = await self._all([pool for pool in self.pools if pool.required])
        # a silo that does not respond must not delay the others
        self.ready = self.ready or ReadinessReport(required).serves
        return ReadinessReport((*required, *await self._all([pool for pool in self.pools if not pool.required])))

    async def _all(self, pools: Sequence[TenantPool]) -> Found:
        results = await asyncio.gather(*(self._one(pool) for pool in pools))
        return tuple(zip(pools, results, strict=True))

    async def _one(self, pool: TenantPool) -> tuple[PoolFault, ...]:
        try:
            faults = await self.faults(pool)
        except Exception:  # INVARIANT: a check that fails is a fault
            _log.exception("%s could not be checked", pool.name)
            return (PoolFault("check", "other", "the check itself failed"),)
        for fault in faults:
            _log.warning("%s, %s: %s", pool.name, fault.where, fault.message)
        return faults
