"""Tools for operators: policy files, proofs of isolation, audit, capacity, migrations, imports, metrics."""
