"""Mutations as declared data: an input, a function that makes the change, and a payload with item or errors."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphql import GraphQLResolveInfo

from gateway.errors import BadUserInput, DeadlineExceeded
from gateway.graph.query.reference.resolvers import Context
from gateway.model.types import AttributeType, Field, ListOf, SetOf, Struct
from gateway.store.rows import Item
from gateway.store.write.faults import Fault, Rejected, UserErrorCode
from gateway.store.write.idempotency import Once, once
from gateway.store.write.writer import MutationResult, Work, Writer

Values = Mapping[str, Any]
Run = Callable[[Writer, dict[str, Any]], Awaitable[MutationResult]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """`returns` is the entity in the payload; `extras` are further fields of the payload, such as a count.

    `member_units` is the estimated cost, in capacity units, of each member of a list in the input.
    `faults` are mistakes in the declaration; they are reported together with those of the model.
    """

    name: str
    description: str
    returns: str
    input: tuple[Field, ...]
    run: Run
    extras: tuple[Field, ...] = ()
    member_units: float = 6
    deprecated: str | None = None
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Payload:
    """The result of a mutation: the item or errors, never both."""

    item: Item | None
    errors: tuple[Fault, ...] = ()
    extras: Values = field(default_factory=dict)


def resolver(mutation: Mutation) -> Callable[..., Awaitable[Payload]]:
    """The resolver of the mutation's field; the item in its payload is what a read would return."""

    async def resolve(root: None, info: GraphQLResolveInfo[Context], **arguments: Any) -> Payload:
        context = info.context
        values = plain(mutation.input, arguments["input"])
        key = arguments.get("idempotencyKey")
        idempotency = once(key, mutation.name, values) if key is not None else None
        payload = await _payload(context.writer, lambda writer: mutation.run(writer, dict(values)), idempotency)
        context.reader.changed(payload.item)
        return payload

    return resolve


async def _payload(writer: Writer, work: Work, idempotency: Once | None) -> Payload:
    """Errors that the caller can fix are part of the payload; all others are errors of the field."""
    try:
        outcome = await _before_deadline(writer, work, idempotency)
    except Rejected as error:
        return Payload(None, error.faults)
    except BadUserInput as error:
        return Payload(None, (Fault(UserErrorCode.INVALID, error.message, error.field),))
    return Payload(outcome.item if outcome.item.values else None, (), outcome.extras)


async def _before_deadline(writer: Writer, work: Work, idempotency: Once | None) -> MutationResult:
    """Cancels the change at the deadline; the results of earlier mutations are kept, later ones are not started."""
    deadline = writer.access.deadline
    if deadline is not None and asyncio.get_running_loop().time() >= deadline:
        raise DeadlineExceeded("the request timed out before this mutation started; nothing was written")
    try:
        async with asyncio.timeout_at(deadline):
            return await writer.run(work, idempotency)
    except TimeoutError as error:
        raise DeadlineExceeded(
            "the request timed out while this mutation ran, and it may have been written; "
            "repeat it with the same `idempotencyKey` to get its result"
        ) from error


def plain(fields: tuple[Field, ...], values: Values) -> dict[str, Any]:
    """The input as values of the model; an absent field stays absent, and null is None."""
    return {field.name: _plain(field.type, values[field.name]) for field in fields if field.name in values}


def _plain(kind: AttributeType, value: Any) -> Any:
    if value is None or type(value) is str:
        return value
    match kind:
        case Struct(_, fields):
            return {name: member for name, member in plain(fields, value).items() if member is not None}
        case ListOf(of):
            return [_plain(of, member) for member in value]
        case SetOf():
            return frozenset(value) or None
    return value
