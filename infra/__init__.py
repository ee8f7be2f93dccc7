"""The stack and the bundles it deploys. Each construct owns one thing and grants nothing; `grants` holds every permission."""
