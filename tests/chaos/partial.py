"""Batches that DynamoDB answers in part: some keys or items come back as unprocessed."""

import json
from random import Random
from typing import Any

from tests.chaos.messages import Message, answer


def partial(request_message: Message, answer_message: Message, random: Random) -> Message:
    """The answer with a part of the batch taken out of it; what was written stays written, which is harder still."""
    request, content = json.loads(request_message.body), json.loads(answer_message.body)
    take = _reads if request_message.operation == "BatchGetItem" else _writes
    return answer(200, take(request["RequestItems"], content, random))


def _reads(request: dict[str, Any], content: dict[str, Any], random: Random) -> dict[str, Any]:
    for table, keys_of_table in request.items():
        rows = content["Responses"].get(table, [])
        random.shuffle(rows)
        kept = rows[: len(rows) // 2]
        left = [{name: row[name] for name in ("PK", "SK")} for row in rows[len(rows) // 2 :]]
        content["Responses"][table] = kept
        if left:
            content.setdefault("UnprocessedKeys", {})[table] = {**keys_of_table, "Keys": left}
    return content


def _writes(request: dict[str, Any], content: dict[str, Any], random: Random) -> dict[str, Any]:
    left = {table: random.sample(items, (len(items) + 1) // 2) for table, items in request.items()}
    return {**content, "UnprocessedItems": left}
