"""Hybrid search of the data plane as pure functions over arrays: signals, fusion, order, cuts."""
