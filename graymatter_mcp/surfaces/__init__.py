"""Surfaces: translate between clients and the engine."""
