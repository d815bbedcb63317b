"""Authorisations of reads: GetItem, BatchGetItem, TransactGetItems, Query, Scan."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.iam.dynamodb import expressions, wire
from gateway.iam.dynamodb.errors import NotUnderstood
from gateway.iam.dynamodb.key_conditions import key_condition
from gateway.iam.dynamodb.key_schemas import KnownTable, TableRegistry
from gateway.iam.dynamodb.wire import Body
from gateway.iam.language.variables import Value
from gateway.iam.language.verdict import Authorisation

_SPECIFIC: Final = "SPECIFIC_ATTRIBUTES"
_SELECT: Final = frozenset(("ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES", _SPECIFIC, "COUNT"))
_GET: Final = frozenset(
    ("TableName", "Key", "AttributesToGet", "ConsistentRead", "ProjectionExpression", "ExpressionAttributeNames")
)
_PAGED: Final = frozenset(
    (
        *("TableName", "IndexName", "Select", "AttributesToGet", "Limit", "ConsistentRead", "ConditionalOperator"),
        *("ExclusiveStartKey", "ReturnConsumedCapacity", "ProjectionExpression", "FilterExpression"),
        *("ExpressionAttributeNames", "ExpressionAttributeValues"),
    )
)
PARAMETERS: Final[Mapping[str, frozenset[str]]] = {
    "GetItem": _GET | {"ReturnConsumedCapacity"},
    "BatchGetItem": frozenset(("RequestItems", "ReturnConsumedCapacity")),
    "TransactGetItems": frozenset(("TransactItems", "ReturnConsumedCapacity")),
    "Query": _PAGED | {"KeyConditions", "QueryFilter", "ScanIndexForward", "KeyConditionExpression"},
    "Scan": _PAGED | {"ScanFilter", "TotalSegments", "Segment"},
}
_BATCH_MEMBER: Final = (_GET - {"TableName", "Key"}) | {"Keys"}
_TRANSACT_MEMBER: Final = _GET - {"AttributesToGet", "ConsistentRead"}


def get_item(body: Body, place: TableRegistry) -> tuple[Authorisation, ...]:
    wire.check_parameters(body, PARAMETERS["GetItem"])
    table = place.table(body.get("TableName"))
    context = key_read(table, [body.get("Key")], wire.projected(body))
    return (Authorisation("dynamodb:GetItem", table.arn, context | wire.capacity(body)),)


def batch_get_item(body: Body, place: TableRegistry) -> tuple[Authorisation, ...]:
    """One authorisation for each table; one key of another tenant denies the whole call."""
    wire.check_parameters(body, PARAMETERS["BatchGetItem"])
    capacity = wire.capacity(body)
    needed: list[Authorisation] = []
    for name, member in wire.request_items(body).items():
        table = place.table(name)
        if not isinstance(member, dict):
            raise NotUnderstood("a table of RequestItems must hold an object")
        wire.check_parameters(member, _BATCH_MEMBER)
        context = key_read(table, wire.objects(member.get("Keys"), "Keys"), wire.projected(member))
        needed.append(Authorisation("dynamodb:BatchGetItem", table.arn, context | capacity))
    return tuple(needed)


def transact_get_items(body: Body, place: TableRegistry) -> tuple[Authorisation, ...]:
    """One authorisation for each member, which is never less strict than one for each table."""
    wire.check_parameters(body, PARAMETERS["TransactGetItems"])
    needed: list[Authorisation] = []
    for member in wire.objects(body.get("TransactItems"), "TransactItems"):
        wire.check_parameters(member, frozenset(("Get",)))
        get = member.get("Get")
        if not isinstance(get, dict):
            raise NotUnderstood("a member of TransactGetItems must be a Get")
        wire.check_parameters(get, _TRANSACT_MEMBER)
        table = place.table(get.get("TableName"))
        context = key_read(table, [get.get("Key")], wire.projected(get))
        context["dynamodb:EnclosingOperation"] = "TransactGetItems"
        needed.append(Authorisation("dynamodb:GetItem", table.arn, context))
    return tuple(needed)


def query(body: Body, place: TableRegistry) -> tuple[Authorisation, ...]:
    wire.check_parameters(body, PARAMETERS["Query"])
    table = place.table(body.get("TableName"))
    index = body.get("IndexName")
    resource = table.arn if index is None else place.index_arn(table.arn, index)
    keys = (table.keys.pk,) if index is None else table.keys.indexes.get(index, ())
    if not keys:
        raise NotUnderstood("the index is not known here", "dynamodb:Query", resource)
    pinned, named = _legacy_keys(body) if "KeyConditions" in body else _expression_keys(body)
    if not all(key in pinned for key in keys):
        raise NotUnderstood("the key condition does not fix the partition key", "dynamodb:Query", resource)
    filtered = _filtered(body, "QueryFilter")
    projection = wire.projected(body)
    context = wire.leading(*((pinned[key],) for key in keys))
    context["dynamodb:Attributes"] = wire.attributes(named, filtered, projection)
    context["dynamodb:Select"] = _select(body, projection)
    return (Authorisation("dynamodb:Query", resource, context | wire.capacity(body)),)


def scan(body: Body, place: TableRegistry) -> tuple[Authorisation, ...]:
    wire.check_parameters(body, PARAMETERS["Scan"])
    table, index = body.get("TableName"), body.get("IndexName")
    resource = place.table_arn(table) if index is None else place.index_arn(table, index)
    projection = wire.projected(body)
    # INVARIANT: Scan never gets LeadingKeys, whatever its filter says.
    context: dict[str, Value] = {
        "dynamodb:Attributes": wire.attributes(_filtered(body, "ScanFilter"), projection),
        "dynamodb:Select": _select(body, projection),
    }
    return (Authorisation("dynamodb:Scan", resource, context | wire.capacity(body)),)


def key_read(table: KnownTable, keys: list[Any], projection: tuple[str, ...]) -> dict[str, Value]:
    """The context of a read of one table by full keys."""
    pk = table.keys.pk
    context = wire.leading(wire.key_texts(keys, pk))
    context["dynamodb:Attributes"] = wire.attributes(*keys, projection)
    context["dynamodb:Select"] = _SPECIFIC if projection else "ALL_ATTRIBUTES"
    return context


def _expression_keys(body: Body) -> tuple[dict[str, str], tuple[str, ...]]:
    """The values to which the key condition fixes names, and every name in it."""
    text, values = body.get("KeyConditionExpression"), body.get("ExpressionAttributeValues")
    if not isinstance(text, str) or not isinstance(values, dict):
        raise NotUnderstood("a Query must have a key condition with values")
    condition = key_condition(text)
    aliases = wire.aliases(body)
    named = expressions.resolved(condition.names, aliases)
    if len(set(named)) != len(named):
        raise NotUnderstood("a key condition names an attribute twice")
    pins = expressions.resolved([name for name, _ in condition.equalities], aliases)
    pairs = zip(pins, condition.equalities, strict=True)
    return {name: wire.key_text(values, value) for name, (_, value) in pairs}, named


def _legacy_keys(body: Body) -> tuple[dict[str, str], tuple[str, ...]]:
    named = wire.legacy_names(body, "KeyConditions")
    if "KeyConditionExpression" in body:
        raise NotUnderstood("a request mixes legacy parameters with expressions")
    pinned: dict[str, str] = {}
    for name in named:
        condition = body["KeyConditions"][name]
        listed = condition.get("AttributeValueList") if isinstance(condition, dict) else None
        if isinstance(listed, list) and len(listed) == 1 and condition.get("ComparisonOperator") == "EQ":
            pinned[name] = wire.key_text({name: listed[0]}, name)
    return pinned, named


def _filtered(body: Body, legacy: str) -> tuple[str, ...]:
    return wire.one_way(wire.legacy_names(body, legacy), wire.names(body, "FilterExpression", expressions.condition))


def _select(body: Body, projection: tuple[str, ...]) -> str:
    default = "ALL_ATTRIBUTES" if body.get("IndexName") is None else "ALL_PROJECTED_ATTRIBUTES"
    select = wire.choice(body, "Select", _SPECIFIC if projection else default, _SELECT)
    if select == _SPECIFIC and not projection:
        raise NotUnderstood("Select requests specific attributes, but the request names none")
    return select
