"""The one process that holds a data directory."""
