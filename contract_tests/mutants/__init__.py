"""Servers that are broken on purpose, one promise each."""
