"""Decides whether a caller may assume a role, by the rules of STS."""
