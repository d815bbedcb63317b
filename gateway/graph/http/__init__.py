"""GraphQL over HTTP: from the headers of a request to its response and its log line."""
