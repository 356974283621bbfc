"""The data plane over HTTP: requests in, checked answers out."""
