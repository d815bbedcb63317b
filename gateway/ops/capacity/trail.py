"""What CloudTrail's record of the table costs: by event, and by byte of the copy that alarms read."""

from dataclasses import dataclass
from typing import Final

from gateway.ops.capacity.assumptions import Assumptions
from gateway.ops.capacity.demand import Demand
from gateway.ops.capacity.prices import Prices

_MILLION: Final = 1_000_000
_GB: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Trail:
    """A month; `records` is the value of Terraform's variable `audit.data_events`."""

    records: str
    says: str
    events: float
    recording: float
    copy: float

    @property
    def total(self) -> float:
        return self.recording + self.copy


def trails(wanted: Demand, assumed: Assumptions, prices: Prices) -> tuple[Trail, ...]:
    """Every choice of the module `audit`, the dearest first."""
    seconds = 3_600 * prices.hours_in_month * assumed.average_share
    reads, writes = wanted.requests("read") * seconds, wanted.requests("write") * seconds
    choices = {
        "all": ("every read and write", reads + writes),
        "writes": ("writes of tenants, and everything that anybody else does", writes),
        "others": ("what anybody but a tenant's session does", 0.0),
        "none": ("no read or write, only changes of the account", 0.0),
    }
    return tuple(_priced(name, says, events, assumed, prices) for name, (says, events) in choices.items())


def _priced(name: str, says: str, events: float, assumed: Assumptions, prices: Prices) -> Trail:
    copied = events * assumed.event_bytes / _GB
    return Trail(name, says, events, events / _MILLION * prices.trail.data_event_million, copied * prices.trail.log_gb)
