"""Writes: changes as values, the transactions that commit them, and idempotency."""
