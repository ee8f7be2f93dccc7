"""A table against a full export, row by row."""
