"""The account and the Region that a local AWS is."""

REGION = "us-east-1"
ACCOUNT = "000000000000"
