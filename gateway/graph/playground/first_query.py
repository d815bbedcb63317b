"""A query to start with: one that answers in any domain, without an id that only its owner would know."""

from collections.abc import Mapping
from typing import Any

from gateway.model.entity import Entity
from gateway.model.model import Model
from gateway.model.patterns import Listing, parameters
from gateway.model.types import KeyType, Text

_SHOWN = 3


def first_query(model: Model) -> str:
    """Three items of the listing that needs the least; where every listing needs an id, the name of the root type."""
    listings = [each for each in model.patterns.values() if isinstance(each, Listing) and _is_plain(model, each)]
    found = [(given, each) for each in listings if (given := _arguments(model, each)) is not None]
    if not found:
        return "{ __typename }"
    given, listing = min(found, key=lambda pair: len(pair[0]))
    words = ", ".join(f"{name}: {value}" for name, value in {**given, "first": _SHOWN}.items())
    fields = " ".join(_fields(model.entities[listing.entity]))
    return f"{{ {listing.name}({words}) {{ nodes {{ {fields} }} }} }}"


def _is_plain(model: Model, listing: Listing) -> bool:
    """A page of items; time buckets without a window ask for a range."""
    return not listing.single and not (model.place(listing).bucket is not None and listing.window is None)


def _arguments(model: Model, listing: Listing) -> Mapping[str, Any] | None:
    """Values for what the listing asks for; None where one of them is for the caller to know."""
    known = {name: _value(model.entities[listing.entity], name) for name in parameters(model, listing)}
    return None if None in known.values() else known


def _value(entity: Entity, name: str) -> str | None:
    kind = entity.attribute[name].type
    return kind.key_values[0] if isinstance(kind, KeyType) and kind.key_values else None


def _fields(entity: Entity) -> list[str]:
    names = [each.name for each in entity.attributes if isinstance(each.type, KeyType | Text) and not each.deprecated]
    return names[:_SHOWN]
