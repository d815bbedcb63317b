"""What a process counts, in Prometheus' form."""
