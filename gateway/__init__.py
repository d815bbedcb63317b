"""A multi-tenant GraphQL gateway with fine-grained IAM over one DynamoDB table."""

__version__ = "0.1.0"
