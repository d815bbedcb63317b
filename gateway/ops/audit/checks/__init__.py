"""Judging facts, one file for each family of lines; nothing here does I/O."""
