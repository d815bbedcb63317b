"""The wire to AWS: signing, connections, retries, errors, and the sessions that tenants act with."""
