"""Tests of the policy evaluator and of requests as authorisations."""
