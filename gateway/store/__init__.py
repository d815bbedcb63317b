"""WHERE: plans for the one table, and the class that runs them."""
