"""The Python that jobs run on here: our own with PySpark and nothing else, as EMR's image has it for a bundle."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from local import java


def bare_python(folder: Path) -> Path:
    """Lay a command for it into a folder; a module that a bundle forgot is missed here too.

    PySpark is found as a folder: from Spark's own archive, its modules would be compiled anew for every job. Of what else
    is installed nothing is found, so that no job waits for PySpark to import what it has a use for only if it is there.
    """
    packages = folder / "packages"
    packages.mkdir()
    for name in ("pyspark", "py4j"):
        (packages / name).symlink_to(java.folder_of(name))
    command = folder / "python"
    here, python = shlex.quote(str(packages)), shlex.quote(sys.executable)
    command.write_text(f'#!/bin/sh\nPYTHONPATH={here}:"$PYTHONPATH" exec {python} -S "$@"\n')
    command.chmod(0o755)
    return command
