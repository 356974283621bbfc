"""Pure rules about facts: no I/O, no clock."""
