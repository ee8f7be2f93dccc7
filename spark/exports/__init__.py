"""Exports as Spark reads them: proven files, and their lines as records."""
