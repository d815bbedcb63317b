"""Files that `gateway new` makes a domain package of."""
