"""What a field is estimated to cost, for its description: the price of an operation, with the declared sizes."""

from gateway.graph.query.page_price import PagePrice
from gateway.graph.query.price import item_units, member_lists
from gateway.model.code import CustomQuery
from gateway.model.filters import FILTER
from gateway.model.model import Model
from gateway.model.mutation import Mutation
from gateway.model.patterns import Listing, Lookup
from gateway.store.capacity_units import read_units
from gateway.store.plan import ReadLimits

_LIMITS = ReadLimits()


def listing_cost(model: Model, listing: Listing) -> str:
    """Of a page with the default size, or of the one item that it answers."""
    price = PagePrice(model, listing, _LIMITS, probed=False)
    if listing.single:
        relation = model.entities[listing.entity].relation.get(listing.follow or "")
        followed = _lookup_units(model.lookup(relation.pattern)) if relation is not None else 0
        return _cost(price.each({"first": 1})[0] + followed)
    units, _ = price.each({})
    filtered = f", at most {_units(price.each({FILTER: True})[0])} with a filter" if listing.filter else ""
    return _cost(units, f" for {_LIMITS.default_page} items{filtered}")


def lookup_cost(lookup: Lookup, *, many: bool = False) -> str:
    return _cost(_lookup_units(lookup), " for each item" if many else "")


def query_cost(query: CustomQuery) -> str:
    return _cost(query.cost)


def mutation_cost(model: Model, mutation: Mutation) -> str:
    units = item_units(model, model.entities[mutation.returns])
    if mutation.bulk is not None:
        return _cost(units, " for each item")
    lists = " and ".join(f"`{name}`" for name in member_lists(mutation))
    return _cost(units, f", and {_units(mutation.member_units)} for each of {lists}" if lists else "")


def _lookup_units(lookup: Lookup) -> float:
    return read_units(lookup.traffic.item_bytes, strong=lookup.strong)


def _cost(units: float, of: str = "") -> str:
    return f" Estimated cost: {_units(units)} capacity unit{'' if units == 1 else 's'}{of}."


def _units(units: float) -> str:
    return f"{units:,.1f}".removesuffix(".0")
