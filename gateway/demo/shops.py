"""The three demo tenants of the shipped domains: the names, products and prices of their shops."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway import DemoTenant, TenantId


@dataclass(frozen=True, slots=True)
class Assortment:
    """A category with its title, its products and its price range."""

    title: str
    lowest: int
    highest: int
    names: str

    @property
    def products(self) -> tuple[str, ...]:
        return tuple(name.strip() for name in self.names.split(","))


@dataclass(frozen=True, slots=True)
class Shop:
    tenant: TenantId
    title: str
    currency: str
    country: str
    first: int
    suppliers: tuple[str, ...]
    cities: tuple[str, ...]
    ranges: Mapping[str, Assortment]

    @property
    def catalogue(self) -> str:
        """A phrase that occurs in the texts of this tenant only."""
        return f"{self.title} catalogue"


def _shop(content: dict[str, Any]) -> Shop:
    ranges = {name: Assortment(*fields) for name, fields in content["ranges"].items()}
    lists = {name: tuple(content[name]) for name in ("suppliers", "cities")}
    return Shop(**{**content, **lists, "ranges": ranges})


SHOPS = tuple(map(_shop, tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["shops"]))
ACME, GLOBEX, INITECH = SHOPS
USERS = 25
BY_TENANT: Mapping[str, Shop] = {shop.tenant: shop for shop in SHOPS}
TENANTS = tuple(
    DemoTenant(
        shop.tenant,
        shop.title,
        f"{shop.title}: users u-{shop.first} to u-{shop.first + USERS - 1}",
        tuple(f"u-{shop.first + number}" for number in range(5)),
    )
    for shop in SHOPS
)

GIVEN_NAMES = ("Robin", "Amara", "Jonas", "Mei", "Luca", "Priya", "Noor", "Elif", "Tomas", "Ines", "Kofi", "Freya")
FAMILY_NAMES = ("Hale", "Okafor", "Brandt", "Lin", "Moretti", "Sharma", "Haddad", "Kaya", "Novak", "Costa", "Mensah")
STREETS = ("Mill Lane", "Station Road", "Harbour Street", "Linden Avenue", "Market Square", "Bridge Street")
QUALITIES = ("Classic", "Compact", "Heavy-duty", "Everyday", "Premium", "Travel", "Workshop", "Signature")
NOTES = (
    "Please leave it with the neighbour.",
    "Ring twice, the bell is quiet.",
    "A present: no prices on the slip, please.",
    "Call before you deliver.",
    "Same as last time.",
)
