"""The data plane: what agents call over REST and its twins."""
