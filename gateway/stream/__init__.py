"""WHAT CHANGED: the table's stream as notes without values, and the bus that carries them between processes."""
