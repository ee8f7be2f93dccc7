"""Expressions as SQL text: of DynamoDB's values, of the cells and misfits that they become."""
