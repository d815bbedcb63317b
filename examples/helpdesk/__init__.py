"""A help desk: a domain of one's own, outside of the gateway's package."""
