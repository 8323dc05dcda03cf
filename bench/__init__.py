"""Benchmarks: each measures memlane against its alternative in the same run."""
