"""The local AWS: what runs inside its process. `local.control` starts it and steers it from outside.

`launch.py` starts MiniStack and installs what it lacks, one module per idea; `pitr/` and `emr/` are whole services of ours.
Only the launcher's process may import MiniStack, and only after the environment is set: MiniStack reads it on import.
"""
