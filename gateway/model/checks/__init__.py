"""Checks of declarations: each module checks one kind and reports every fault."""
