"""strawberry with its dataloader and aiobotocore, in an environment of its own; no tokens, one tenant.

python strawberry_peer.py PORT DYNAMODB_URL
"""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import strawberry
import uvicorn
from aiobotocore.config import AioConfig
from aiobotocore.session import get_session
from boto3.dynamodb.types import TypeDeserializer
from starlette.applications import Starlette
from starlette.routing import Route
from strawberry.asgi import GraphQL
from strawberry.dataloader import DataLoader
from strawberry.extensions import ParserCache, ValidationCache

OWN = "TENANT#t000#"
PORT, DYNAMODB = int(sys.argv[1]), sys.argv[2]
deserialize = TypeDeserializer().deserialize
client: Any = None


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    global client  # noqa: PLW0603
    keys = {"aws_access_key_id": "AKID", "aws_secret_access_key": "secret", "endpoint_url": DYNAMODB}
    config = AioConfig(max_pool_connections=64)
    async with get_session().create_client("dynamodb", "eu-west-1", config=config, **keys) as made:
        client = made
        yield


def item(row: dict[str, Any]) -> dict[str, Any]:
    return {name: deserialize(value) for name, value in row.items()}


def key(pk: str, sk: str) -> dict[str, Any]:
    return {"PK": {"S": OWN + pk}, "SK": {"S": sk}}


async def get(pk: str, sk: str) -> dict[str, Any]:
    return item((await client.get_item(TableName="app", Key=key(pk, sk)))["Item"])


@strawberry.type
class User:
    user_id: strawberry.ID
    name: str
    email: str | None


@strawberry.type
class Order:
    order_id: strawberry.ID
    status: str
    total: float
    currency: str | None
    placed_at: str
    owner: strawberry.Private[str]

    @strawberry.field
    async def user(self, info: strawberry.Info) -> User | None:
        return await info.context["users"].load(self.owner)


@strawberry.type
class OrderConnection:
    nodes: list[Order]


@strawberry.type
class Product:
    product_id: strawberry.ID
    title: str
    price: float


@strawberry.type
class Category:
    category_id: strawberry.ID
    title: str
    version: int


@strawberry.type
class UserError:
    message: str


@strawberry.type
class UpdateCategoryPayload:
    category: Category | None
    errors: list[UserError]


@strawberry.input
class UpdateCategoryInput:
    category_id: strawberry.ID
    title: str


def order(row: dict[str, Any]) -> Order:
    return Order(
        order_id=row["orderId"],
        status=row["status"],
        total=float(row["total"]),
        currency=row.get("currency"),
        placed_at=row["placedAt"],
        owner=row["userId"],
    )


@strawberry.type
class Query:
    @strawberry.field
    async def review_queue(self, first: int) -> OrderConnection:
        answer = await client.query(
            TableName="app",
            IndexName="GSI3",
            KeyConditionExpression="#pk = :pk",
            ExpressionAttributeNames={"#pk": "GSI3PK", "#status": "status", "#total": "total"},
            ExpressionAttributeValues={":pk": {"S": f"{OWN}REVIEW"}},
            ProjectionExpression="PK,SK,EntityType,GSI3SK,currency,orderId,placedAt,#status,#total,userId",
            Limit=first,
            ReturnConsumedCapacity="TOTAL",
        )
        return OrderConnection(nodes=[order(item(row)) for row in answer["Items"]])

    @strawberry.field
    async def product(self, product_id: strawberry.ID) -> Product | None:
        found = await get(f"PRODUCT#{product_id}", "DETAILS")
        return Product(product_id=found["productId"], title=found["title"], price=float(found["price"]))


@strawberry.type
class Mutation:
    @strawberry.mutation
    async def update_category(self, input: UpdateCategoryInput) -> UpdateCategoryPayload:  # noqa: A002
        found = await get(f"CATEGORY#{input.category_id}", "DETAILS")
        version = int(found["version"]) + 1
        update = {
            "TableName": "app",
            "Key": key(f"CATEGORY#{input.category_id}", "DETAILS"),
            "UpdateExpression": "SET title = :title, version = :version",
            "ConditionExpression": "version = :old",
            "ExpressionAttributeValues": {
                ":title": {"S": input.title},
                ":version": {"N": str(version)},
                ":old": {"N": str(version - 1)},
            },
        }
        await client.transact_write_items(TransactItems=[{"Update": update}])
        category = Category(category_id=input.category_id, title=input.title, version=version)
        return UpdateCategoryPayload(category=category, errors=[])


async def users(ids: list[str]) -> list[User | None]:
    keys = [key(f"USER#{number}", "PROFILE") for number in ids]
    answer = await client.batch_get_item(RequestItems={"app": {"Keys": keys}}, ReturnConsumedCapacity="TOTAL")
    found = {}
    for row in map(item, answer["Responses"]["app"]):
        found[row["userId"]] = User(user_id=row["userId"], name=row["name"], email=row.get("email"))
    return [found.get(number) for number in ids]


class App(GraphQL[Any, Any]):
    async def get_context(self, request: Any, response: Any = None) -> Any:
        return {"users": DataLoader(users)}


schema = strawberry.Schema(Query, Mutation, extensions=[ParserCache(), ValidationCache()])
app = Starlette(routes=[Route("/graphql", App(schema, graphql_ide=None), methods=["POST"])], lifespan=lifespan)

if __name__ == "__main__":
    uvicorn.run(app, port=PORT, access_log=False, log_level="error", loop="uvloop", http="httptools")
