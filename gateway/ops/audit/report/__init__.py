"""The results as a table, as JSON and as SARIF."""
