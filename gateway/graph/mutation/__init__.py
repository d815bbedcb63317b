"""Mutations as declared data, and the ones that any entity has."""
