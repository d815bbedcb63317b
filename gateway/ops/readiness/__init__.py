"""Whether this process may be sent requests."""
