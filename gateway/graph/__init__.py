"""GraphQL: the schema built from the model, the execution of queries and mutations, and the HTTP endpoint."""
