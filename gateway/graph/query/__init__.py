"""Queries: a document understood once, priced, and run by the reference executor or in a lane."""
