"""Mutations of stock: set it after counting, or adjust it."""

from dataclasses import replace
from typing import Any

from gateway import (
    VERSION,
    ErrorCode,
    Fault,
    Field,
    Id,
    Integer,
    Mutation,
    MutationResult,
    Writer,
    now,
    remove,
    upserts,
)
from gateway.demo.commerce.product import PRODUCT

OUT_OF_STOCK = ErrorCode("OUT_OF_STOCK", "there is not enough stock left")
_PRODUCT = Field("productId", Id(), "The product.")


def out_of_stock(product: str, field: str = "productId") -> Fault:
    return Fault(OUT_OF_STOCK, f"there is not enough stock of product `{product}`", field)


async def set_stock(writer: Writer, values: dict[str, Any]) -> MutationResult:
    key, available = {"productId": values["productId"]}, values["available"]
    stored = await writer.find("Stock", key)
    change = writer.change()
    changes = {"available": available, "updatedAt": now()}
    if stored is None:
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


async def remove_product(writer: Writer, values: dict[str, Any]) -> MutationResult:
    """Also removes its stock, or a later product with the same id would start with it."""
    key = {"productId": values["productId"]}
    product = await writer.stored("Product", key, values.get("version"))
    change = writer.change()
    await writer.remove(change, product)
    upserts.discard(change, "Stock", key)
    return await writer.commit(change, MutationResult(product))


REMOVE_PRODUCT: Mutation = replace(
    remove(PRODUCT),
    description="Remove a product and its stock; the payload has its last values.",
    run=remove_product,
)

STOCKING = (
    Mutation(
        name="setStock",
        description="Set the stock of a product after counting it.",
        returns="Stock",
        input=(
            _PRODUCT,
            Field("available", Integer(min=0), "The number of units counted."),
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
