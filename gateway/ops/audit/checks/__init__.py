"""Checks of the gathered facts, one file for each group of lines; nothing here does I/O."""
