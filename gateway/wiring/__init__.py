"""Settings become the values that the rooms take."""
