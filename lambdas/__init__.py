"""The functions: one handler a file, named after its state. They look, ask `pipeline` to decide, and carry out."""
