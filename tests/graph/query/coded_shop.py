"""The shipped domains with more fields that code answers: personal needs, arguments, structs, and code that fails."""

import enum
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from gateway.demo import MODEL
from gateway.graph.query.caller_reader import CallerReader
from gateway.graph.schema.schema import build_schema
from gateway.iam.policies.policies import generated
from gateway.model.code import Computed, CustomQuery, Loaded
from gateway.model.entity import Entity
from gateway.model.model import Model
from gateway.model.patterns import AccessPattern, Choice, Counter, Listing
from gateway.model.table import Index, TableSpec
from gateway.model.types import EnumOf, Field, Id, Integer, ListOf, SetOf, Struct, Text, Timestamp
from gateway.ops.policies.files import permissions_for
from gateway.sandbox.dev.seeds import seed_items
from tests.graph.fixtures import NOW, ServedModel
from tests.graph.query.local_list import LISTING, SMALLER, with_local_index

Values = Mapping[str, Any]
Fields = Mapping[str, Mapping[str, tuple[Any, ...]]]  # by entity, then `computed` or `loaded`


class Season(enum.Enum):
    """The season of a date."""

    COLD = "October to March"
    WARM = "April to September"


CARD = Struct(
    "BusinessCard",
    (
        Field("title", Text(300), "What it says."),
        Field("since", Timestamp(), "Since when.", required=False),
        Field("words", ListOf(Text(200)), "The title in words."),
    ),
)
_WORD = Field("word", Text(20), "What it begins with.", required=False)
_FACTOR = Field("factor", Integer(), "What it is multiplied by.")
calls: list[tuple[str, int]] = []  # the loads since it was cleared: their names and how many rows each had


def _card(values: Values, arguments: Values) -> Any:
    title = f"{arguments.get('word', 'Dear')} {values['name']}"
    return {"title": title, "since": values["createdAt"], "words": title.split()}


def _fragile(values: Values) -> Any:
    last = values["userId"][-1]
    if last in "37":
        raise ValueError("this user is not liked")
    return "a text where a number is declared" if last == "5" else len(values["userId"])


async def _score(reader: CallerReader, rows: list[dict[str, Any]], arguments: Values) -> list[Any]:
    calls.append(("score", len(rows)))
    if arguments["factor"] == 48:
        raise OSError("the service is down")
    if arguments["factor"] == 2:
        return []
    bad = {"4": KeyError("no such user"), "6": "wrong"}
    return [bad.get(row["userId"][-1], arguments["factor"] * len(row["userId"])) for row in rows]


async def _in_stock(reader: CallerReader, rows: list[dict[str, Any]]) -> list[Any]:
    calls.append(("inStock", len(rows)))
    keys = [{"productId": product} for row in rows for product in row["productIds"] or ()]
    stocks = {each["productId"]: each["available"] for each in await reader.many("Stock", keys) if each is not None}
    return [sum(stocks.get(product) or 0 for product in row["productIds"] or ()) for row in rows]


async def _best_users(reader: CallerReader, arguments: Values) -> Any:
    orders = await reader.listed("activeOrders", {}, first=arguments.get("first", 5))
    users = await reader.many("User", [{"userId": each} for each in dict.fromkeys(order["userId"] for order in orders)])
    return [user for user in users if user is not None]


async def _first_order(reader: CallerReader, arguments: Values) -> Any:
    return await reader.find("Order", {"orderId": arguments["orderId"]})


async def _words(reader: CallerReader, arguments: Values) -> Any:
    if arguments.get("count") == 24:
        raise ValueError("too many words")
    return [f"{reader.tenant} {reader.role}"] * max(0, arguments.get("count", 1))


async def _cards(reader: CallerReader, arguments: Values) -> Any:
    return {"title": reader.subject, "words": [reader.role]}


_MORE: Fields = {
    "User": {
        "computed": (
            Computed("initials", Text(9), "Of the name.", needs=("name",), run=lambda values: values["name"][:1]),
            Computed("card", CARD, "A card.", needs=("name", "createdAt"), run=_card, arguments=(_WORD,)),
            Computed("fragile", Integer(), "It fails for some.", needs=("userId",), run=_fragile),
        ),
        "loaded": (
            Loaded("score", Integer(), "A score.", needs=("userId",), load=_score, arguments=(_FACTOR,), cost=2),
        ),
    },
    "Order": {
        "computed": (
            Computed(
                "season", EnumOf(Season), "Its season.", True, needs=("placedAt",),
                run=lambda values: Season.WARM if 4 <= values["placedAt"].month < 10 else Season.COLD,
            ),
            Computed(
                "noteLength", Integer(), "Of the remark.", needs=("note", "status", "productIds"),
                run=lambda values: None if values["note"] is None else len(values["note"]),
            ),
        ),
        "loaded": (Loaded("inStock", Integer(), "Of its products.", needs=("productIds",), load=_in_stock),),
    },
    "Product": {
        "computed": (
            Computed(
                "loudTags", SetOf(Text(50)), "In capitals.", needs=("tags", "price"),
                run=lambda values: None if values["tags"] is None else {each.upper() for each in values["tags"]},
            ),
        ),
    },
}  # fmt: skip

_QUERIES = (
    CustomQuery(
        name="bestUsers", description="Users.", returns="User", many=True, run=_best_users, cost=9,
        arguments=(Field("first", Integer(), "So many.", required=False),),
    ),
    CustomQuery(
        name="firstOrder", description="An order.", returns="Order", run=_first_order, cost=1,
        arguments=(Field("orderId", Id(), "Which one."),),
    ),
    CustomQuery(
        name="greetings", description="Texts.", returns=Text(200), many=True, max_items=24, run=_words, cost=1,
        arguments=(Field("count", Integer(), "So many.", required=False),),
    ),
    CustomQuery(name="ownCard", description="A card.", returns=CARD, run=_cards, cost=0),
)  # fmt: skip


def _with_more(entity: Entity, more: Fields) -> Entity:
    own = more.get(entity.name, {})
    return replace(
        entity,
        computed=(*entity.computed, *own.get("computed", ())),
        loaded=(*entity.loaded, *own.get("loaded", ())),
    )


# lists whose items are counted: of everything, by a parameter, and in a collection
_COUNTED = {"activeOrders": 4, "ordersByStatus": 1, "postsByAuthor": 3}


# lists of GSI1 read every item through the table, those of GSI2 what is selected beyond these
_PROJECTED = (
    Index("GSI1", "GSI1PK", "GSI1SK", "KEYS_ONLY"),
    Index("GSI2", "GSI2PK", "GSI2SK", "INCLUDE", ("orderId", "placedAt", "userId", "total", "name", "email", "price")),
    Index("GSI3", "GSI3PK", "GSI3SK"),
)


def projected(model: Model) -> Model:
    """With indexes that do not carry whole items; a filter needs what it compares in the index."""
    patterns = ([_unfiltered(model, each) for each in domain.patterns] for domain in model.domains)
    domains = tuple(replace(each, patterns=tuple(own)) for each, own in zip(model.domains, patterns, strict=True))
    return replace(model, domains=domains, table=TableSpec(indexes=_PROJECTED))


def _unfiltered(model: Model, pattern: AccessPattern | Choice) -> AccessPattern | Choice:
    here = isinstance(pattern, Listing) and model.place(pattern).index == "GSI1"
    return replace(pattern, filter=()) if isinstance(pattern, Listing) and here else pattern


def _counted(pattern: AccessPattern | Choice) -> AccessPattern | Choice:
    shards = _COUNTED.get(pattern.name)
    return replace(pattern, counter=Counter(shards)) if isinstance(pattern, Listing) and shards else pattern


def coded_model(*queries: CustomQuery, more: Fields | None = None) -> Model:
    """With these queries and fields in addition."""
    domains = []
    for domain in MODEL.domains:
        entities = (_with_more(entity, _MORE) for entity in domain.entities)
        extended = tuple(_with_more(entity, more or {}) for entity in entities)
        custom = (*domain.queries, *_QUERIES, *queries) if domain.name == "commerce" else domain.queries
        patterns = tuple(map(_counted, domain.patterns))
        domains.append(replace(domain, entities=extended, queries=custom, patterns=patterns))
    return replace(MODEL, domains=tuple(domains))


def served_model(model: Model) -> ServedModel:
    permissions = permissions_for(generated(model), model)
    return ServedModel(model, build_schema(model), permissions, seed_items(model, NOW))


@cache
def coded_shop() -> ServedModel:
    return served_model(coded_model())


@cache
def projected_shop() -> ServedModel:
    listing = replace(LISTING, consistent=False)
    return served_model(with_local_index(projected(coded_model()), index=SMALLER, listing=listing))
