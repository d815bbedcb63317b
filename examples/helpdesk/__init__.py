"""A help desk: a custom domain, outside the gateway's package."""
