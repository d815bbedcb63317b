"""Documentation generated from a model: its access patterns, keys and roles."""
