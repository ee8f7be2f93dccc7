"""Entry points, one file a job: what ``spark-submit`` is given."""
