"""The wire contract: schema files, loaded, checked, compared."""
