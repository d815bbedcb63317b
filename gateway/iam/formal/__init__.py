"""PROVE: policies as formulas, theorems about every request, and an SMT solver that decides them."""
