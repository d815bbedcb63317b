"""Reads through a DAX cluster, which does not isolate tenants: authorized before, checked after, never required."""
