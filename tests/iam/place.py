"""The table that the wire tests use: a table key, a plain index, a local index, an index of two attributes."""

from gateway.iam.dynamodb.key_schemas import KeySchema, TableRegistry

ORDERS = "arn:aws:dynamodb:eu-west-1:123456789012:table/orders"
USERS = "arn:aws:dynamodb:eu-west-1:123456789012:table/users"
INDEXES = {"GSI1": ("GSI1PK",), "LSI1": ("PK",), "Multi": ("region", "tenant")}
PLACE = TableRegistry(
    "eu-west-1", "123456789012", tables={"orders": KeySchema("PK", INDEXES), "users": KeySchema("id")}
)
