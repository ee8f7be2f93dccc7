"""The folder that a local AWS has for itself."""

#: What each process begins with empty; logs stay until they are written anew.
EMPTIED = ("state", "s3", "tmp", "outbox")
