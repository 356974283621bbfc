"""A client that adds nothing and forgives nothing, of the standard library alone."""
