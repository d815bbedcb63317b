"""HOW ASKED: the GraphQL schema made from the model, the request's loaders, limits, errors and the HTTP endpoint."""
