"""The columns that a table has, read from its metadata: what they hold, and what somebody else has made of them."""
