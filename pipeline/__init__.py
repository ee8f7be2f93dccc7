"""The rules of the product in plain Python: no AWS, no Spark, no clock, no randomness, no environment.

Everything here is a value or a pure function. It is shipped in both bundles, so it stays clean for Python 3.9,
the default interpreter of EMR 7.
"""
