"""The same question answered the usual way: strawberry with boto3 in threads, with and without a dataloader."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import boto3
import strawberry
from boto3.dynamodb.types import TypeDeserializer
from botocore.config import Config
from strawberry.dataloader import DataLoader
from strawberry.extensions import ParserCache, ValidationCache
from strawberry.schema.config import StrawberryConfig

_READ = TypeDeserializer()


def _plain(item: dict[str, Any]) -> dict[str, Any]:
    return {name: _READ.deserialize(value) for name, value in item.items()}


class Source:
    """`queries` are the requests for the orders, so that both ways ask DynamoDB the same."""

    def __init__(self, url: str, table: str, queries: list[dict[str, Any]]) -> None:
        config = Config(max_pool_connections=32)
        self.client = boto3.client(
            "dynamodb", "eu-west-1", endpoint_url=url, aws_access_key_id="a", aws_secret_access_key="b", config=config
        )
        self.table, self.queries = table, queries
        self.threads = ThreadPoolExecutor(32)

    async def run(self, call: Callable[..., Any], **body: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self.threads, lambda: call(**body))

    async def orders(self, limit: int) -> list[dict[str, Any]]:
        answers = await asyncio.gather(*(self.run(self.client.query, **body) for body in self.queries))
        rows = [_plain(row) for answer in answers for row in answer["Items"]]
        return sorted(rows, key=lambda row: str(row["GSI2SK"]), reverse=True)[:limit]

    async def get(self, pk: str, sk: str) -> dict[str, Any]:
        answer = await self.run(self.client.get_item, TableName=self.table, Key=_key(pk, sk))
        return _plain(answer["Item"])

    async def batch(self, keys: list[tuple[str, str]]) -> list[dict[str, Any]]:
        request = {self.table: {"Keys": [_key(*key) for key in keys]}}
        answer = await self.run(self.client.batch_get_item, RequestItems=request)
        rows = (_plain(row) for row in answer["Responses"][self.table])
        found = {(row["PK"], row["SK"]): row for row in rows}
        return [found[key] for key in keys]


def _key(pk: str, sk: str) -> dict[str, Any]:
    return {"PK": {"S": pk}, "SK": {"S": sk}}


def build(source: Source, limit: int, *, batched: bool) -> strawberry.Schema:
    async def fetch(info: strawberry.Info, pk: str, sk: str) -> dict[str, Any]:
        if not batched:
            return await source.get(pk, sk)
        kind = sk.partition("#")[0]
        loaders = info.context["loaders"]
        if kind not in loaders:
            loaders[kind] = DataLoader(load_fn=source.batch, max_batch_size=100)
        row: dict[str, Any] = await loaders[kind].load((pk, sk))
        return row

    @strawberry.type
    class User:
        name: str
        email: str

    @strawberry.type
    class Product:
        title: str
        price: str

    @strawberry.type
    class Line:
        quantity: int
        productId: str  # noqa: N815

        @strawberry.field
        async def product(self, info: strawberry.Info) -> Product:
            row = await fetch(info, f"TENANT#acme#PRODUCT#{self.productId}", "DETAILS")
            return Product(title=row["title"], price=str(row["price"]))

    @strawberry.type
    class Order:
        orderId: str  # noqa: N815
        total: str
        placedAt: str  # noqa: N815
        row: strawberry.Private[dict[str, Any]]

        @strawberry.field
        async def user(self, info: strawberry.Info) -> User:
            row = await fetch(info, f"TENANT#acme#USER#{self.row['userId']}", "PROFILE")
            return User(name=row["name"], email=row["email"])

        @strawberry.field
        async def lines(self, info: strawberry.Info) -> list[Line]:
            keys = [(f"TENANT#acme#ORDER#{self.orderId}", f"ITEM#{name}") for name in self.row["productIds"]]
            rows = await asyncio.gather(*(fetch(info, *key) for key in keys))
            return [Line(quantity=int(row["quantity"]), productId=row["productId"]) for row in rows]

    @strawberry.type
    class Query:
        @strawberry.field
        async def orders(self) -> list[Order]:
            return [
                Order(orderId=row["orderId"], total=str(row["total"]), placedAt=row["placedAt"], row=row)
                for row in await source.orders(limit)
            ]

    return strawberry.Schema(
        Query, config=StrawberryConfig(auto_camel_case=False), extensions=[ParserCache, ValidationCache]
    )
