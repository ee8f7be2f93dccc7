"""Values that must not come into the table: dropped and hashed, and what contradicts that."""
