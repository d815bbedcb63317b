"""WHAT: entities, keys, indexes, relations and access patterns, declared once; pure, no I/O."""
