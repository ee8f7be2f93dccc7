"""Every call to AWS that the functions make, one service's part of the product a file."""
