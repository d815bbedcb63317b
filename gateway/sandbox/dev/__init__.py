"""Development tools: the rows of demo tenants, tokens, the banner, and reloads."""
