"""The lane: a query prepared once for its policies, and run level by level with generated functions."""
