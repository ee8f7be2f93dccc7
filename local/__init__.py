"""The local AWS: the deployed thing itself, on one machine and offline. Never deployed, never imported by what is.

`launch.py` starts MiniStack in a process of its own and installs what it lacks, one module per idea; `control.py`
is the client that starts and steers that process; `pitr/` and `emr/` are whole services of ours.
Only the launcher's process may import MiniStack, and only after the environment is set: MiniStack reads it on import.
"""
