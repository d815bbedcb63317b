"""Clinic: a domain of the gateway."""
