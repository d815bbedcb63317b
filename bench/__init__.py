"""Benchmarks: each prints ratios from one run, because machines are shared and noisy."""
