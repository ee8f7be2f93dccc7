"""Exports of DynamoDB: the windows that they are of, how they are asked for, and what their manifests say."""
