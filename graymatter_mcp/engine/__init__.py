"""The engine: the one door, and what it is composed of."""
