"""Authorisations of writes: PutItem, UpdateItem, DeleteItem, BatchWriteItem, TransactWriteItems."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.iam.dynamodb import expressions, wire
from gateway.iam.dynamodb.errors import NotUnderstood
from gateway.iam.dynamodb.key_schemas import KnownTable, TableRegistry
from gateway.iam.dynamodb.wire import Body
from gateway.iam.language.variables import Value
from gateway.iam.language.verdict import Authorisation

ON_FAILURE: Final = "ReturnValuesOnConditionCheckFailure"
SINGLE_WRITES: Final = frozenset(("PutItem", "UpdateItem", "DeleteItem"))

_RETURN: Final = frozenset(("NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"))
_RETURN_ON_FAILURE: Final = frozenset(("NONE", "ALL_OLD"))
_CONDITION: Final = frozenset(("ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues"))
_SINGLE: Final = _CONDITION | {
    *("TableName", "Expected", "ConditionalOperator", "ReturnValues", "ReturnConsumedCapacity"),
    *("ReturnItemCollectionMetrics", ON_FAILURE),
}
PARAMETERS: Final[Mapping[str, frozenset[str]]] = {
    "PutItem": _SINGLE | {"Item"},
    "UpdateItem": _SINGLE | {"Key", "AttributeUpdates", "UpdateExpression"},
    "DeleteItem": _SINGLE | {"Key"},
    "BatchWriteItem": frozenset(("RequestItems", "ReturnConsumedCapacity", "ReturnItemCollectionMetrics")),
    "TransactWriteItems": frozenset(
        ("TransactItems", "ReturnConsumedCapacity", "ReturnItemCollectionMetrics", "ClientRequestToken")
    ),
}
_MEMBER: Final = _CONDITION | {"TableName", ON_FAILURE}
_MEMBERS: Final[Mapping[str, tuple[str, frozenset[str]]]] = {
    "Put": ("PutItem", _MEMBER | {"Item"}),
    "Update": ("UpdateItem", _MEMBER | {"Key", "UpdateExpression"}),
    "Delete": ("DeleteItem", _MEMBER | {"Key"}),
    "ConditionCheck": ("ConditionCheckItem", _MEMBER | {"Key"}),
}


def batch_write_item(body: Body, place: TableRegistry) -> tuple[Authorisation, ...]:
    """One authorisation for each table, for BatchWriteItem alone: AWS does not check PutItem or DeleteItem."""
    wire.check_parameters(body, PARAMETERS["BatchWriteItem"])
    capacity = wire.capacity(body)
    needed: list[Authorisation] = []
    for name, members in wire.request_items(body).items():
        table = place.table(name)
        items = [_written(member) for member in wire.objects(members, "a table of RequestItems")]
        context = wire.leading(wire.key_texts(items, table.keys.pk))
        context["dynamodb:Attributes"] = wire.attributes(*items)
        needed.append(Authorisation("dynamodb:BatchWriteItem", table.arn, context | capacity))
    return tuple(needed)


def transact_write_items(body: Body, place: TableRegistry) -> tuple[Authorisation, ...]:
    """One authorisation for each member, which is never less strict than one for each action and table."""
    wire.check_parameters(body, PARAMETERS["TransactWriteItems"])
    return tuple([_member(member, place) for member in wire.objects(body.get("TransactItems"), "TransactItems")])


def single_write(action: str, body: Body, place: TableRegistry) -> tuple[Authorisation, ...]:
    wire.check_parameters(body, PARAMETERS[action])
    table = place.table(body.get("TableName"))
    context = _write(action, table, body) | wire.capacity(body)
    returned = [wire.choice(body, "ReturnValues", "NONE", _RETURN)]
    # If the condition fails, ALL_OLD returns the whole item. AWS does not document, except for transactions, whether
    # this counts as ReturnValues, so it must be allowed as ReturnValues too.
    if wire.choice(body, ON_FAILURE, "NONE", _RETURN_ON_FAILURE) == "ALL_OLD" and "ALL_OLD" not in returned:
        returned.append("ALL_OLD")
    return tuple(
        [
            Authorisation(f"dynamodb:{action}", table.arn, {**context, "dynamodb:ReturnValues": values})
            for values in returned
        ]
    )


def _member(member: dict[str, Any], place: TableRegistry) -> Authorisation:
    if len(member) != 1:
        raise NotUnderstood("a member of TransactWriteItems must be one write or one check")
    kind, write = next(iter(member.items()))
    if kind not in _MEMBERS or not isinstance(write, dict):
        raise NotUnderstood(f"unknown member of TransactWriteItems `{kind}`")
    action, parameters = _MEMBERS[kind]
    wire.check_parameters(write, parameters)
    table = place.table(write.get("TableName"))
    context = _write(action, table, write)
    context["dynamodb:ReturnValues"] = wire.choice(write, ON_FAILURE, "NONE", _RETURN_ON_FAILURE)
    context["dynamodb:EnclosingOperation"] = "TransactWriteItems"
    return Authorisation(f"dynamodb:{action}", table.arn, context)


def _write(action: str, table: KnownTable, body: Body) -> dict[str, Value]:
    item = body.get("Item" if action == "PutItem" else "Key")
    context = wire.leading((wire.key_text(item, table.keys.pk),))
    updated: tuple[str, ...] = ()
    if action == "UpdateItem":
        modern = wire.names(body, "UpdateExpression", expressions.update)
        updated = wire.one_way(wire.legacy_names(body, "AttributeUpdates"), modern)
    context["dynamodb:Attributes"] = wire.attributes(item or (), updated, wire.conditional(body))
    return context


def _written(member: dict[str, Any]) -> dict[str, Any]:
    """The item or key of one write of a batch."""
    match member:
        case {"PutRequest": {"Item": dict() as item, **more}, **others} if not more and not others:
            return item
        case {"DeleteRequest": {"Key": dict() as key, **more}, **others} if not more and not others:
            return key
    raise NotUnderstood("a member of BatchWriteItem must be one put or one delete")
