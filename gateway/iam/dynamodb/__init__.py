"""Derives from a DynamoDB request which authorisations AWS checks for it, and decides them for a session."""
