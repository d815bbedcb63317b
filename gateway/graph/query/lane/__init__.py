"""The lane: runs a query that was prepared once for given policies, level by level, with generated functions."""
