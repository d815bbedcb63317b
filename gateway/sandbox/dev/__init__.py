"""Development tools: demo tenants with data, tokens, the storefront, and reloads."""
