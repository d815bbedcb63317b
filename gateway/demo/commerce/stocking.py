"""Mutations of stock: set it after counting, or adjust it."""

from datetime import UTC, datetime
from typing import Any

from gateway.graph.mutation.crud import VERSION
from gateway.graph.mutation.mutation import Mutation
from gateway.model.types import Field, Id, Integer
from gateway.store.write.faults import Fault, UserErrorCode, invalid
from gateway.store.write.writer import MutationResult, Writer

_PRODUCT = Field("productId", Id(), "The product.")


def out_of_stock(product: str) -> Fault:
    return Fault(UserErrorCode.OUT_OF_STOCK, f"there is not enough stock of product `{product}`", "productId")


async def set_stock(writer: Writer, values: dict[str, Any]) -> MutationResult:
    key, available = {"productId": values["productId"]}, values["available"]
    if available < 0:
        raise invalid("`available` cannot be negative", "available")
    stored = await writer.find("Stock", key)
    change = writer.change()
    changes = {"available": available, "updatedAt": datetime.now(UTC)}
    if stored is None:
        await writer.stored("Product", key)
        return await writer.commit(change, MutationResult(change.create("Stock", {**key, **changes})))
    stored = await writer.stored("Stock", key, values.get("version"))
    return await writer.commit(change, MutationResult(change.update(stored, changes)))


async def adjust_stock(writer: Writer, values: dict[str, Any]) -> MutationResult:
    """Adds without reading first, so that many callers can do it at once; the result is read afterwards."""
    key = {"productId": values["productId"]}
    stored = await writer.stored("Stock", key)
    change = writer.change()
    amounts = {"available": values["by"]}
    change.add("Stock", key, amounts, out_of_stock(values["productId"]), never_below_zero=True)
    await writer.commit(change, MutationResult(stored))
    return MutationResult(await writer.stored("Stock", key))


STOCKING = (
    Mutation(
        name="setStock",
        description="Set the stock of a product after counting it.",
        returns="Stock",
        input=(
            _PRODUCT,
            Field("available", Integer(), "The number of units counted."),
            VERSION,
        ),
        run=set_stock,
    ),
    Mutation(
        name="adjustStock",
        description="Add units to the stock of a product or take them away; it never falls below zero.",
        returns="Stock",
        input=(_PRODUCT, Field("by", Integer(), "The number of units to add; negative to take away.")),
        run=adjust_stock,
    ),
)
