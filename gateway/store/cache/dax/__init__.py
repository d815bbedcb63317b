"""Reads through a DAX cluster, which knows no tenants: judged before, checked after, and never the only way."""
