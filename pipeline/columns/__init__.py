"""What becomes of attributes: their columns' names and types, as data show them and as the settings say."""
