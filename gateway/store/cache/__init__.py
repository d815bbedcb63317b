"""Answers that are remembered for a while: for one tenant, one set of policies and one question each."""
