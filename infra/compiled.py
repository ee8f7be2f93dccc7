"""What Python makes of the functions' sources before it runs them, made once and shipped with them.

Lambda's folder of a function cannot be written to, so each cold start would compile all of it again, and the libraries:
half of what a start takes. The files are of the kind that is never held against its source (PEP 552), whose times an
archive does not keep; a Python of another version passes over them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def compile_all(folder: Path) -> None:
    """Compile every module below `folder`, each beside its source in ``__pycache__``, which knows no path outside of it."""
    form = ("--invalidation-mode", "unchecked-hash")
    subprocess.run(  # noqa: S603  # this very interpreter
        [sys.executable, "-S", "-m", "compileall", "-q", "-f", *form, "-s", str(folder), str(folder)],
        # Of a process that knows nothing else the same source gives the same bytes, and beside it, whatever is set here.
        env={"PYTHONHASHSEED": "0", "PATH": os.environ.get("PATH", "")},
        check=True,
    )
