"""Proofs: translates policies to formulas, and decides theorems about every possible request with an SMT solver."""
