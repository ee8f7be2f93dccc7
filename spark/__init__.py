"""The Spark jobs: load a full export into an Iceberg table, merge windows of changes into it.

Native expressions only, so that nothing but the driver's decisions runs in Python; the rules come from `pipeline`.
Clean for Python 3.9, the default interpreter of EMR 7.
"""
