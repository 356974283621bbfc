"""Pure ranking: tokens, signals, fusion, order; no I/O, clock or randomness."""
