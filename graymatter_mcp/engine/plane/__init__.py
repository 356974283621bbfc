"""The data plane: twelve operations on the same facts as the core tools."""
