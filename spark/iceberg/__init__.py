"""The Iceberg table: its schema, its commits and what they say, its files in order."""
