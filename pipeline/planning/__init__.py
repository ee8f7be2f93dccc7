"""What a run does next: everything that is looked at, and the one action that follows from it."""
