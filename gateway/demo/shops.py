"""The three demo tenants of the shipped domains: the names, products and prices of their shops."""

from collections.abc import Mapping
from dataclasses import dataclass

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
    # the first number of all ids; two shops share it, so that their items differ only by tenant
    first: int
    suppliers: tuple[str, str, str]
    cities: tuple[str, ...]
    ranges: Mapping[str, Assortment]

    @property
    def catalogue(self) -> str:
        """A phrase that occurs in the texts of this tenant only."""
        return f"{self.title} catalogue"


ACME = Shop(
    tenant=TenantId("acme"),
    title="Acme Tools",
    currency="EUR",
    country="DE",
    first=1001,
    suppliers=("Keller & Sons", "Nordstahl", "Bright Works"),
    cities=("Bremen", "Kassel", "Leipzig", "Ulm", "Kiel", "Bonn"),
    ranges={
        "tools": Assortment(
            "Hand tools", 8, 90, "Claw hammer, Block plane, Spirit level, Bench vice, Chisel set, Tape measure"
        ),
        "fasteners": Assortment("Fasteners", 2, 25, "Wall plugs, Screws, Coach bolts, Wing nuts, Brass hinges, Rivets"),
        "garden": Assortment("Garden", 6, 180, "Spade, Pruning shears, Watering can, Wheelbarrow, Rake, Hedge trimmer"),
        "lighting": Assortment("Lighting", 9, 140, "Work lamp, Head torch, Lantern, Floodlight, Bulb pack, Cable reel"),
        "workwear": Assortment(
            "Workwear", 5, 120, "Work gloves, Safety boots, Ear defenders, Overall, Knee pads, Helmet"
        ),
    },
)
GLOBEX = Shop(
    tenant=TenantId("globex"),
    title="Globex Office",
    currency="USD",
    country="US",
    first=1001,
    suppliers=("Pacific Furniture", "Inkwell", "Lumen Labs"),
    cities=("Portland", "Duluth", "Boise", "Tulsa", "Albany", "Reno"),
    ranges={
        "desks": Assortment(
            "Desks", 120, 900, "Standing desk, Corner desk, Writing desk, Side table, Desk frame, Desk pad"
        ),
        "chairs": Assortment(
            "Chairs", 60, 700, "Task chair, Stool, Visitor chair, Lounge chair, Mesh chair, Foot rest"
        ),
        "paper": Assortment("Paper", 3, 40, "Copy paper, Notebooks, Index cards, Envelopes, Sticky notes, Sketch pad"),
        "lighting": Assortment(
            "Lighting", 20, 260, "Desk lamp, Monitor light, Floor lamp, Clip light, Pendant, Ring light"
        ),
        "screens": Assortment(
            "Screens", 90, 1200, "Monitor 24, Monitor 27, Wide screen, Monitor arm, Dock, Privacy filter"
        ),
    },
)
INITECH = Shop(
    tenant=TenantId("initech"),
    title="Initech Roasters",
    currency="GBP",
    country="GB",
    first=5001,
    suppliers=("Harbour Imports", "Copper Kettle", "Dale Potteries"),
    cities=("York", "Bath", "Leith", "Truro", "Conwy", "Derry"),
    ranges={
        "beans": Assortment(
            "Coffee beans", 7, 28, "House blend, Decaf, Dark roast, Light roast, Espresso blend, Peaberry"
        ),
        "brewers": Assortment(
            "Brewers", 15, 220, "French press, Pour-over, Moka pot, Siphon, Cold brew jar, Travel press"
        ),
        "grinders": Assortment("Grinders", 25, 480, "Hand grinder, Burr grinder, Dosing cup, Burr set, Brush, Hopper"),
        "cups": Assortment("Cups", 6, 45, "Espresso cup, Flat white cup, Mug, Saucer, Tasting spoon, Travel mug"),
        "tea": Assortment("Tea", 4, 30, "Assam, Earl Grey, Sencha, Oolong, Mint, Chamomile"),
    },
)
SHOPS = (ACME, GLOBEX, INITECH)
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
