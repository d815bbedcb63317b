"""The declared model: entities, keys, indexes, relations and access patterns; pure, no I/O."""
