"""Tests of the consumers of the change feed."""
