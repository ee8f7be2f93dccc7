"""What the settings say of columns: types and names by path, what is dropped or hashed, in the words that they are written in."""
