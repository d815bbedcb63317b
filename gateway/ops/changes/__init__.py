"""Consumers of the change feed: a client of it, and webhooks."""
