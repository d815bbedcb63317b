"""Mutations as declared data: an input, what is done, and a payload with the changed item and user errors."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphql import GraphQLResolveInfo

from gateway.errors import BadUserInput, DeadlineExceeded, LimitExceeded
from gateway.graph.query.reference.context import Context
from gateway.model.types import AttributeType, Field, ListOf, SetOf, Struct
from gateway.store.rows import Item
from gateway.store.write.faults import Fault, Rejected, UserErrorCode
from gateway.store.write.idempotency import Once, once
from gateway.store.write.writer import MutationResult, Work, Writer

EXTRA = "extra_"  # before the name of what a payload holds beside its item
Values = Mapping[str, Any]
Run = Callable[[Writer, dict[str, Any]], Awaitable[MutationResult]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """`returns` names the entity in the payload; `extras` are numbers or texts beside it.

    `member_units` are the capacity units that one member of a list in its input takes, for the estimate of its cost.
    `faults` are mistakes in its declaration that are reported with those of the model.
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
    """What a mutation answers: the item or errors, never both."""

    item: Item | None
    errors: tuple[Fault, ...] = ()
    extras: Values = field(default_factory=dict)


def resolver(mutation: Mutation) -> Callable[..., Awaitable[Payload]]:
    """The resolver of its field: values out of the input, the change in its time, the item as a read would show it."""

    async def resolve(root: None, info: GraphQLResolveInfo[Context], **arguments: Any) -> Payload:
        context = info.context
        values = plain(mutation.input, arguments["input"])
        key = arguments.get("idempotencyKey")
        known = once(key, mutation.name, values) if key is not None else None
        payload = await _carry_out(context.writer, lambda writer: mutation.run(writer, dict(values)), known)
        context.reader.changed(payload.item)
        return payload

    return resolve


async def _carry_out(writer: Writer, work: Work, once: Once | None) -> Payload:
    """What the caller can mend is part of the payload; everything else is an error of the field."""
    try:
        outcome = await _in_time(writer, work, once)
    except Rejected as error:
        return Payload(None, error.faults)
    except LimitExceeded as error:
        return Payload(None, (Fault(UserErrorCode.INVALID, error.message),))
    except BadUserInput as error:
        return Payload(None, (Fault(UserErrorCode.INVALID, error.message, _field(error.message)),))
    return Payload(outcome.item if outcome.item.values else None, (), outcome.extras)


async def _in_time(writer: Writer, work: Work, once: Once | None) -> MutationResult:
    """Ends one change at the deadline, so that those before it are still answered; later ones are not begun."""
    deadline = writer.access.deadline
    if deadline is not None and asyncio.get_running_loop().time() >= deadline:
        raise DeadlineExceeded("the time was over before this change was begun; nothing was written")
    try:
        async with asyncio.timeout_at(deadline):
            return await writer.run(work, once)
    except TimeoutError as error:
        raise DeadlineExceeded(
            "the time was over while this change was made; the same `idempotencyKey` tells whether it was"
        ) from error


def _field(message: str) -> str | None:
    """Our messages name the attribute first, in backticks."""
    return message.split("`")[1] if message.startswith("`") else None


def plain(fields: tuple[Field, ...], given: Values) -> dict[str, Any]:
    """An input as values of the model: what was left out is absent, null is None."""
    return {each.name: _plain(each.type, given[each.name]) for each in fields if each.name in given}


def _plain(kind: AttributeType, value: Any) -> Any:
    if value is None or type(value) is str:
        return value
    match kind:
        case Struct(_, fields):
            return {name: each for name, each in plain(fields, value).items() if each is not None}
        case ListOf(of):
            return [_plain(of, each) for each in value]
        case SetOf():
            return frozenset(value) or None
    return value
