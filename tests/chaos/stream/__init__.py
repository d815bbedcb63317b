"""Readers, bus and gateways killed at random while subscribers watch: what must hold for each of them."""
