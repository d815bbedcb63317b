"""The first query of the playground: it runs in any domain and needs no id."""

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.model.entity import Entity
from gateway.model.model import Model
from gateway.model.patterns import Listing, parameters
from gateway.model.role import ALL, Role
from gateway.model.role_reach import hidden_attributes, visible_patterns
from gateway.model.types import KeyType, Text

_COUNT = 3


def first_query(model: Model) -> str:
    """Three items of the listing with the fewest arguments that `shown_role` reads; `__typename` if there is none."""
    return _query(model, model.roles[shown_role(model)]) or "{ __typename }"


def shown_role(model: Model) -> str:
    """The weakest that can send a first query: it reads every entity, or at least the rows of everybody."""
    roles = model.roles.values()
    everybody = [role for role in roles if not role.own]
    preferred = [*roles, *everybody, *(role for role in everybody if role.reads is ALL)][::-1]
    return next((role for role in preferred if _query(model, role) is not None), preferred[0]).name


def _query(model: Model, role: Role) -> str | None:
    """None if every listing that the role reads needs an id."""
    patterns = (model.patterns[name] for name in visible_patterns(model, role))
    listings = [pattern for pattern in patterns if isinstance(pattern, Listing) and _returns_pages(model, pattern)]
    candidates = [(arguments, listing) for listing in listings if (arguments := _arguments(model, listing)) is not None]
    if not candidates:
        return None
    arguments, listing = min(candidates, key=lambda candidate: len(candidate[0]))
    text = ", ".join(f"{name}: {value}" for name, value in {**arguments, "first": _COUNT}.items())
    fields = " ".join(_fields(model.entities[listing.entity], hidden_attributes(model, role)))
    return f"{{ {listing.name}({text}) {{ nodes {{ {fields} }} }} }}"


def _returns_pages(model: Model, listing: Listing) -> bool:
    """Whether it lists items without a range of time; time buckets without a default window need one."""
    return not listing.single and not (model.place(listing).bucket is not None and listing.window is None)


def _arguments(model: Model, listing: Listing) -> Mapping[str, Any] | None:
    """Values for the parameters of the listing; None if only the caller can know one of them."""
    values = {name: _value(model.entities[listing.entity], name) for name in parameters(model, listing)}
    return None if None in values.values() else values


def _value(entity: Entity, name: str) -> str | None:
    kind = entity.attribute[name].type
    return kind.key_values[0] if isinstance(kind, KeyType) and kind.key_values else None


def _fields(entity: Entity, hidden: Sequence[str]) -> list[str]:
    attributes = (
        attribute for attribute in entity.attributes if not attribute.deprecated and attribute.name not in hidden
    )
    names = [attribute.name for attribute in attributes if isinstance(attribute.type, KeyType | Text)]
    return names[:_COUNT] or ["__typename"]
