"""The floor: a plain Starlette handler with the calls of each body through our own client; no GraphQL, no tokens.

python -m bench.peers.floor PORT DYNAMODB_URL
"""

import gc
import ssl
import sys
from typing import Any

import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.dynamodb import DynamoDBClient
from gateway.aws.wire.endpoint import AwsTarget

OWN = "TENANT#t000#"
PORT, TARGET = int(sys.argv[1]), AwsTarget(sys.argv[2], "eu-west-1")
CREDENTIALS = Credentials("AKID", "secret")
client = DynamoDBClient(tls=ssl.create_default_context())


async def call(operation: str, body: dict[str, Any]) -> dict[str, Any]:
    return await client.call(operation, body, credentials=CREDENTIALS, target=TARGET)


def key(pk: str, sk: str) -> dict[str, Any]:
    return {"PK": {"S": OWN + pk}, "SK": {"S": sk}}


async def orders(first: int) -> dict[str, Any]:
    answer = await call(
        "Query",
        {
            "TableName": "app",
            "IndexName": "GSI3",
            "KeyConditionExpression": "#pk = :pk",
            "ExpressionAttributeNames": {"#pk": "GSI3PK", "#status": "status", "#total": "total"},
            "ExpressionAttributeValues": {":pk": {"S": f"{OWN}REVIEW"}},
            "ProjectionExpression": "PK,SK,EntityType,GSI3SK,currency,orderId,placedAt,#status,#total,userId",
            "Limit": first,
            "ReturnConsumedCapacity": "TOTAL",
        },
    )
    rows = answer["Items"]
    keys = [key(f"USER#{number}", "PROFILE") for number in {row["userId"]["S"] for row in rows}]
    answer = await call("BatchGetItem", {"RequestItems": {"app": {"Keys": keys}}, "ReturnConsumedCapacity": "TOTAL"})
    users = {user["userId"]["S"]: user for user in answer["Responses"]["app"]}
    return {"reviewQueue": {"nodes": [_order(row, users[row["userId"]["S"]]) for row in rows]}}


def _order(row: dict[str, Any], user: dict[str, Any]) -> dict[str, Any]:
    return {
        "orderId": row["orderId"]["S"],
        "status": row["status"]["S"],
        "total": row["total"]["N"],
        "currency": row["currency"]["S"],
        "placedAt": row["placedAt"]["S"],
        "user": {"userId": user["userId"]["S"], "name": user["name"]["S"], "email": user["email"]["S"]},
    }


async def product(number: str) -> dict[str, Any]:
    row = (await call("GetItem", {"TableName": "app", "Key": key(f"PRODUCT#{number}", "DETAILS")}))["Item"]
    shown = {"productId": row["productId"]["S"], "title": row["title"]["S"], "price": row["price"]["N"]}
    return {"product": shown}


async def update(given: dict[str, Any]) -> dict[str, Any]:
    place = key(f"CATEGORY#{given['categoryId']}", "DETAILS")
    row = (await call("GetItem", {"TableName": "app", "Key": place}))["Item"]
    version = int(row["version"]["N"]) + 1
    change = {
        "TableName": "app",
        "Key": place,
        "UpdateExpression": "SET title = :title, version = :version",
        "ConditionExpression": "version = :old",
        "ExpressionAttributeValues": {
            ":title": {"S": given["title"]},
            ":version": {"N": str(version)},
            ":old": row["version"],
        },
    }
    await call("TransactWriteItems", {"TransactItems": [{"Update": change}]})
    return {"updateCategory": {"category": {**given, "version": version}, "errors": []}}


async def answer(request: Request) -> Response:
    variables = orjson.loads(await request.body())["variables"]
    if "n" in variables:
        data = await orders(variables["n"])
    elif "id" in variables:
        data = await product(variables["id"])
    else:
        data = await update(variables["input"])
    return Response(orjson.dumps({"data": data}), media_type="application/json")


if __name__ == "__main__":
    app = Starlette(routes=[Route("/graphql", answer, methods=["POST"])])
    # as the gateway does
    gc.collect()
    gc.freeze()
    gc.set_threshold(1_000, 1_000_000, 100)
    uvicorn.run(app, port=PORT, access_log=False, log_level="error", loop="uvloop", http="httptools")
