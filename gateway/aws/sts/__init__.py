"""The sessions that tenants act with: opened by AssumeRole, kept, refreshed."""
