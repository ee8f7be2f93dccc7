"""Functions' bundles, unpacked once for all processes that run them.

MiniStack unpacks a bundle for each process anew: eight hundred files and a third of a second for this project's, a third of
all that the local AWS does in the tests of a deployment. On AWS, too, the code is there before the process, and is only read.
"""

from __future__ import annotations

import hashlib
import tempfile
import zipfile
from pathlib import Path
from threading import Lock
from types import SimpleNamespace
from typing import Any

from local.aws.hooks import HookMismatch

_one_at_a_time = Lock()


def install(folder: Path) -> None:
    """Have processes of functions find their bundle unpacked below `folder`. Raises HookMismatch."""
    from ministack.core import lambda_runtime

    if lambda_runtime.zipfile is not zipfile:
        raise HookMismatch("MiniStack's worker unpacks its code in another way by now")
    folder.mkdir(parents=True, exist_ok=True)

    class Bundle(_Bundle):
        unpacked = folder

    lambda_runtime.zipfile = SimpleNamespace(**{**vars(zipfile), "ZipFile": Bundle})


class _Bundle(zipfile.ZipFile):
    """A bundle on disk of which whoever unpacks it is given links to what lies unpacked already."""

    unpacked: Path

    def extractall(self, path: Any = None, members: Any = None, pwd: bytes | None = None) -> None:
        """As `zipfile` has it for all members, into a folder that is there."""
        for entry in self._unpacked().iterdir():
            Path(path, entry.name).symlink_to(entry)

    def _unpacked(self) -> Path:
        content = Path(str(self.filename)).read_bytes()
        folder = self.unpacked / hashlib.sha256(content).hexdigest()
        with _one_at_a_time:
            if not folder.exists():
                # Whoever is ended in the middle of it leaves nothing that looks whole.
                begun = Path(tempfile.mkdtemp(dir=self.unpacked))
                super().extractall(begun)
                begun.rename(folder)
        return folder
