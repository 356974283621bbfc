"""Tests of pure ranking."""
