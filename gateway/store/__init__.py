"""The store: pure plans for the table, and the class that runs them."""
