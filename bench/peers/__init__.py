"""The gateway beside what people would use instead, and beside a floor; see bench/README.md."""
