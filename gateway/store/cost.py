"""What an answer of DynamoDB tells about its size and its cost."""

from typing import Any


def items_in(answer: dict[str, Any]) -> int:
    if "Items" in answer:
        return len(answer["Items"])
    if "Responses" in answer:
        return sum(len(rows) for rows in answer["Responses"].values())
    return 1 if answer.get("Item") else 0


def units_of(consumed: Any) -> float:
    if isinstance(consumed, list) and len(consumed) == 1:
        [consumed] = consumed
    if isinstance(consumed, list):
        return sum(float(each.get("CapacityUnits", 0)) for each in consumed)
    return float(consumed.get("CapacityUnits", 0)) if consumed else 0.0
