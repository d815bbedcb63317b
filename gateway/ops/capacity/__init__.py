"""How much capacity the declared traffic needs, what it costs in each mode, and where it gets hot."""
