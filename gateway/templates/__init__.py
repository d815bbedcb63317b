"""The files of a new domain package, which `gateway new` copies."""
