"""The stdio process that a client spawns: standard library only, and as little of it as can be."""
