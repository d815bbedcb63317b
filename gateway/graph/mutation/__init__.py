"""Mutations as declared data, and the generated mutations of entities."""
