"""Migrations of stored items without loss: upgrades, new index places, moved shards; never part of serving."""
