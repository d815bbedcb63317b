"""The table's stream as change notes without values, and the bus that carries them between processes."""
