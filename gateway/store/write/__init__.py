"""Writes: changes as values, the transactions that commit them, idempotency."""
