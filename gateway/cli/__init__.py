"""The commands: each reads its arguments and calls the room that does the work."""
