"""Imports rows of one entity through the bulk mutation of a running gateway."""
