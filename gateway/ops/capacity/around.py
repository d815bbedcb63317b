"""The monthly cost of everything around the table: recovery, key, streams, processes, network, files."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gateway.ops.capacity.assumptions import Assumptions
from gateway.ops.capacity.cost import GB, MILLION, SECONDS_IN_HOUR
from gateway.ops.capacity.demand import Demand
from gateway.ops.capacity.prices import Prices

_KEY_USES_AN_HOUR: Final = 12  # DynamoDB caches a table's key for five minutes for each caller


@dataclass(frozen=True, slots=True)
class Expense:
    """`how` lists the figures behind the amount."""

    name: str
    month: float
    how: str


def expenses(demand: Demand, assumed: Assumptions, prices: Prices) -> tuple[Expense, ...]:
    """Excludes capacity, storage and the trail, which have their own tables, and expenses of zero."""
    parts = (_keeping, _key_and_streams, _processes, _network, _files)
    return tuple(expense for part in parts for expense in part(demand, assumed, prices) if expense.month)


def _keeping(_: Demand, assumed: Assumptions, prices: Prices) -> Iterator[Expense]:
    size, around, keeping = assumed.storage_gb, assumed.around, prices.keeping
    recovery = size * keeping.recovery_gb_month * around.recovery
    yield Expense("point-in-time recovery", recovery, f"{size:,.4g} GB, indexes counted as well")
    backups = size * around.backup_copies * keeping.backup_gb_month
    yield Expense("backups", backups, f"{around.backup_copies:g} of {size:,.4g} GB")


def _key_and_streams(_: Demand, assumed: Assumptions, prices: Prices) -> Iterator[Expense]:
    around = assumed.around
    uses = around.sessions * _KEY_USES_AN_HOUR * prices.hours_in_month
    key = prices.key.month + uses / MILLION * prices.key.request_million
    yield Expense("KMS", key, f"a key, {uses / MILLION:,.2f} million uses by {around.sessions:,} sessions")
    reads = around.stream_reads * SECONDS_IN_HOUR * prices.hours_in_month / MILLION
    yield Expense("stream reads", reads * prices.stream_read_million, f"{reads:,.2f} million, all day")


def _processes(demand: Demand, assumed: Assumptions, prices: Prices) -> Iterator[Expense]:
    around, compute, hours = assumed.around, prices.compute, prices.hours_in_month
    task = around.task_vcpu * compute.vcpu_hour + around.task_gb * compute.gb_hour
    size = f"{around.task_vcpu:g} vCPU and {around.task_gb:g} GB"
    yield Expense("Fargate", around.tasks * task * hours, f"{around.tasks} tasks of {size}")
    calls = _a_month(demand.calls, assumed, prices)
    answered = calls * around.response_bytes / GB
    balancer = compute.balancer_hour * hours + answered * compute.balancer_unit_hour
    yield Expense("load balancer", balancer, f"one, {answered:,.1f} GB of answers")
    logged = calls * around.log_bytes / GB
    yield Expense("log", logged * prices.trail.log_gb, f"{logged:,.1f} GB of lines")


def _network(_: Demand, assumed: Assumptions, prices: Prices) -> Iterator[Expense]:
    around, network, hours = assumed.around, prices.network, prices.hours_in_month
    yield Expense("interface endpoints", around.endpoints * network.endpoint_hour * hours, f"{around.endpoints}")
    nat = around.nat_gateways * network.nat_hour * hours + around.nat_gb * network.nat_gb
    yield Expense("NAT", nat, f"{around.nat_gateways} gateways, {around.nat_gb:,.4g} GB")


def _files(_: Demand, assumed: Assumptions, prices: Prices) -> Iterator[Expense]:
    around, files = assumed.around, prices.files
    yield Expense("files, kept", around.files_gb * files.gb_month, f"{around.files_gb:,.4g} GB in S3")
    up = _a_month(around.file_uploads, assumed, prices) / MILLION
    # an upload is a signed write, a check of the object, and a free removal of the replaced one
    requests = up * (files.upload_million + files.download_million)
    yield Expense("files, uploads", requests, f"{up:,.2f} million")
    down = _a_month(around.file_downloads, assumed, prices)
    out = down * around.file_bytes / GB
    cost = down / MILLION * files.download_million + max(0, out - files.free_out_gb) * files.out_gb
    yield Expense("files, downloads", cost, f"{down / MILLION:,.2f} million, {out:,.1f} GB to the internet")


def _a_month(per_second: float, assumed: Assumptions, prices: Prices) -> float:
    """Rates describe a busy hour."""
    return per_second * assumed.average_share * SECONDS_IN_HOUR * prices.hours_in_month
