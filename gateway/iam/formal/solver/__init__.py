"""Translates formulas for the solvers z3 and cvc5, and runs them."""
