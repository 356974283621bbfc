"""Material for the tests of the checker."""
