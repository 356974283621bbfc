"""Benchmarks: what a call costs, beside what the machine charges for the least such work."""
