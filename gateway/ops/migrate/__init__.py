"""Changes of the table's content without loss: items upgraded, indexes filled, shards moved; never while serving."""
