"""Tenants' sessions: opened with AssumeRole, cached and refreshed."""
