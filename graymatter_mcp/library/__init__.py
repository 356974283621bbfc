"""The Python library: thin facades over the engine, async and blocking."""
