"""Pages and types that are made from the schema files, so that they cannot say something else."""
