"""Proofs of isolation: attacks that are sent, and theorems that a solver decides."""
