"""The product on one machine. Never deployed, never imported by what is.

`__main__.py` has the commands. `demo.py` deploys to a local AWS: `control.py` starts and steers its process, and `aws/` is
what runs in that. `replay.py`, `verify.py` and `maintain.py` run jobs on a table in a folder, without any AWS. `bench/`
measures the jobs.
"""
