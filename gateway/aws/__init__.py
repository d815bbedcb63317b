"""Access to AWS: signing, connections, retries, errors, and the sessions of tenants."""
