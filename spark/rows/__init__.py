"""Items as typed rows: every value in its column or among the row's misfits; keys; what was seen where."""
