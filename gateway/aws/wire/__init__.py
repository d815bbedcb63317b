"""Signed HTTP to AWS: connections, retries, error codes."""
