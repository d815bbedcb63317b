"""Removes an item that others refer to: refuses it while they do, or removes them as well."""

from dataclasses import replace
from typing import TYPE_CHECKING

from gateway.model.error_code import UserErrorCode
from gateway.model.keys import item_key
from gateway.model.referrers import Referrer, bound_names
from gateway.store.plan import GetItems, Window, plan_listing
from gateway.store.rows import Item
from gateway.store.write.change import MAX_MEMBERS, Change
from gateway.store.write.faults import Fault, Rejected
from gateway.store.write.references import RemovalCondition

if TYPE_CHECKING:
    from gateway.store.write.writer import Writer

_PAGE = 20  # items that are read together; each may have copies and unique values
_ROOM = MAX_MEMBERS - 10  # members of one transaction; the rest is for the writes of the mutation itself


async def remove(writer: "Writer", change: Change, item: Item) -> Item:
    """Adds the removal to the change; what does not fit is removed before, and a repeat continues from there."""
    referrers = writer.model.referrers.get(item.entity, ())
    if not referrers:
        return change.remove(item)
    # INVARIANT: counted before the referrers are read, so that one who comes later is noticed when this is written.
    condition = await _counted(writer, item)
    for referrer in referrers:
        if not referrer.cascade:
            await _restrict(writer, referrer, item)
    for referrer in referrers:
        if referrer.cascade:
            await _cascade(writer, change, referrer, item)
    return change.remove(item, condition)


async def _counted(writer: "Writer", item: Item) -> RemovalCondition:
    name = writer.model.table.references
    key = item_key(writer.tenant, writer.model.entities[item.entity], item.values)
    plan = GetItems(writer.tenant, item.entity, (key,), frozenset({name}), strong=True)
    [stored] = await writer.table.get(writer.access, plan)
    return RemovalCondition(name, stored.values.get(name) if stored is not None else None)


async def _restrict(writer: "Writer", referrer: Referrer, item: Item) -> None:
    children, _, _ = await _page(writer, referrer, item, None, limit=1)
    if children:
        message = f"this {item.entity} is still the `{referrer.relation.name}` of a {referrer.source.name}"
        field = writer.model.entities[item.entity].key_names[-1]
        raise Rejected(Fault(UserErrorCode.IN_USE, message, field))


async def _cascade(writer: "Writer", change: Change, referrer: Referrer, item: Item) -> None:
    after: str | None = None
    more = True
    while more:
        children, after, more = await _page(writer, referrer, item, after)
        batch = writer.change()
        for child in children:
            await remove(writer, batch, child)
        if not more and len(change.members) + len(batch.members) <= _ROOM:
            for member in batch.members:
                change.append(member)
        else:
            await writer.commit_part(batch)


async def _page(
    writer: "Writer", referrer: Referrer, item: Item, after: str | None, limit: int = _PAGE
) -> tuple[list[Item], str | None, bool]:
    """Returns some of the items that refer to it, in their current state."""
    model, source = writer.model, referrer.source
    arguments = {own: item.values[name] for name, own in bound_names(model, referrer.relation).items()}
    listing = replace(referrer.listing, strong=model.table.consistent(model.place(referrer.listing).index), cached=None)
    plan = plan_listing(model, listing, writer.tenant, arguments, Window(limit, after), frozenset(source.key_names))
    page = await writer.table.query(writer.access, plan)
    if not page.items:
        return [], None, False
    # an index may still show items that were removed, or not yet show changes
    items = await writer.many(source.name, [row.values for row in page.items])
    current = [row for row in items if row is not None and _refers(row, arguments)]
    return current, page.items[-1].position, page.more


def _refers(item: Item, arguments: dict[str, object]) -> bool:
    return all(item.values.get(name) == value for name, value in arguments.items())
