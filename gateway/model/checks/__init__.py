"""What makes a declaration wrong: each file checks one kind of it and names every fault."""
