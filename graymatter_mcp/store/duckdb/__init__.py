"""The DuckDB store."""
