"""More than one core: a supervisor binds the port and starts workers that share it, their log and their metrics."""
