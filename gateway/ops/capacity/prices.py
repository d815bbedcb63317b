"""Prices with their date and source, from a file that can be replaced."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from gateway.ops.json_file import read_json_file

SHIPPED: Final = Path(__file__).parent / "prices.json"

Price = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Words = Annotated[str, Field(min_length=1)]


class _PricePart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class OnDemand(_PricePart):
    write_million: Price
    read_million: Price


class Provisioned(_PricePart):
    write_hour: Price
    read_hour: Price


class Storage(_PricePart):
    gb_month: Price
    free_gb: Annotated[float, Field(ge=0)]


class Reserved(_PricePart):
    """For 100 units over the whole term: paid upfront, and by the hour, used or not."""

    years: Annotated[int, Field(ge=1)]
    read_start: Price
    read_hour: Price
    write_start: Price
    write_hour: Price


class Keeping(_PricePart):
    """Per GB of the table and month."""

    recovery_gb_month: Price
    backup_gb_month: Price


class KeyPrices(_PricePart):
    month: Price
    request_million: Price


class ComputePrices(_PricePart):
    vcpu_hour: Price
    gb_hour: Price
    balancer_hour: Price
    balancer_unit_hour: Price  # one unit handles a GB per hour


class NetworkPrices(_PricePart):
    nat_hour: Price
    nat_gb: Price
    endpoint_hour: Price


class FilePrices(_PricePart):
    gb_month: Price
    upload_million: Price
    download_million: Price
    out_gb: Price
    free_out_gb: Annotated[float, Field(ge=0)]


class TrailPrices(_PricePart):
    data_event_million: Price
    log_gb: Price


class Prices(_PricePart):
    region: Words
    currency: Words
    as_of: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    source: Words
    on_demand: OnDemand
    provisioned: Provisioned
    storage: Storage
    reserved: Annotated[tuple[Reserved, ...], Field(min_length=1)]
    keeping: Keeping
    stream_read_million: Price
    key: KeyPrices
    compute: ComputePrices
    network: NetworkPrices
    files: FilePrices
    trail: TrailPrices
    dax_node_hour: Annotated[Mapping[str, Price], Field(min_length=1)]
    hours_in_month: Price


def read_prices(path: Path = SHIPPED) -> Prices:
    return read_json_file(path, Prices, named="price file", where="prices: ")
