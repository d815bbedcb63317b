"""The GraphQL schema, made from the model."""
