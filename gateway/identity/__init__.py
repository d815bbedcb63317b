"""Authentication: a bearer token becomes a verified Principal, or is refused."""
