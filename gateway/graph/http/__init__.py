"""HTTP: requests are admitted, answered and logged."""
