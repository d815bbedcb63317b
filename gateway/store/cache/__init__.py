"""Read caches: each answer belongs to one tenant, one set of policies and one read."""
