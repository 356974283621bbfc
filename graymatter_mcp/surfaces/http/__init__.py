"""HTTP for remote callers: one gate before every route."""
