"""The GraphQL schema, built from the model."""
