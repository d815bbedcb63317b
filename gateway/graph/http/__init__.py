"""GraphQL over HTTP: from the head of a request to its answer and its line in the log."""
