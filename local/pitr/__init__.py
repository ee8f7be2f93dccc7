"""DynamoDB point-in-time recovery and its exports: journal, files, API. `offline.py` writes exports without a server."""
