"""Read caches: each entry belongs to one tenant, one set of policies and one read."""
