"""Windows of changes into the table, whole rows by key."""
