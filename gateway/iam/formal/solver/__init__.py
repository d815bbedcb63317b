"""The requests that a proof is about, and the solvers that decide a formula over them."""
