"""Values that travel between layers: frozen, typed, standard library only."""
