"""Turns settings into the objects that the other rooms take."""
