"""Gathers facts from AWS and from the repository."""
