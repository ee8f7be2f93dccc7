"""A table's whole content from a full export."""
