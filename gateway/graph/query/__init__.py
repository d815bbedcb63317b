"""Queries: parses and binds a document once, estimates its cost, and runs it in a lane or in the reference executor."""
