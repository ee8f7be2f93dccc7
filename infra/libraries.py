"""The libraries of the Lambda bundle: exactly those of ``lambdas/requirements.lock``, the same bytes on every machine.

``python -m infra.libraries`` (part of ``make install``) fetches them, for Lambda's platform whatever the machine is, and
leaves out what the functions never load. Compiled modules are left out, too (wrapt has one, and falls back to Python):
what runs on arm64 in Lambda is then the very thing that runs on a laptop. Their Python is compiled right away, once for all
bundles. Synth only looks for the result.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from infra import compiled
from infra.paths import ROOT

#: What botocore keeps for the services that `lambdas/aws` calls; it carries four hundred.
SERVICES = ("dynamodb", "emr-serverless", "glue", "s3", "sns", "ssm", "stepfunctions", "sts")
#: And what Powertools has beside its logger, metrics and tracer, which take these two.
UTILITIES = ("jmespath_utils", "typing")
#: What the libraries ship beside code that runs: metadata, commands, types, compiled modules, samples, routes of APIs.
_UNUSED = (
    "*.dist-info",
    "bin",
    "*-stubs",
    ".lock",
    "**/*.pyi",
    "**/py.typed",
    "**/*.so",
    "**/examples-1.json",
    "boto3/examples",
    "aws_lambda_powertools/event_handler",
    "wrapt/*.c",
)
_PLATFORM = ("--python-platform", "aarch64-manylinux2014", "--python-version", "3.11", "--only-binary", ":all:")


class LibrariesMissing(Exception):
    """The libraries of the lock file are not installed; the text says what to do."""


def installed(root: Path) -> Path:
    """The folder of the installed libraries. Raises LibrariesMissing."""
    folder = _folder(root)
    if not folder.is_dir():
        raise LibrariesMissing("the functions' libraries are not installed, or not as locked: run `make install`")
    return folder


def install(root: Path = ROOT) -> Path:
    """Fetch the libraries unless they are there; returns their folder."""
    folder = _folder(root)
    if folder.is_dir():
        return folder
    shutil.rmtree(folder.parent, ignore_errors=True)
    folder.parent.mkdir(parents=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as unfinished:
        target = Path(unfinished) / "libraries"
        subprocess.run(_command(root, target), check=True)  # noqa: S603  # the command is ours
        cut_down(target)
        compiled.compile_all(target)
        target.rename(folder)
    return folder


def cut_down(libraries: Path) -> None:
    """Remove what the functions never load."""
    unused = [path for pattern in _UNUSED for path in libraries.glob(pattern)]
    for folder, used in (("botocore/data", SERVICES), ("aws_lambda_powertools/utilities", UTILITIES)):
        unused += [path for path in (libraries / folder).iterdir() if path.is_dir() and path.name not in used]
    for path in unused:
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def _folder(root: Path) -> Path:
    """Named by what decides its content: the lock file, this one, and how it is compiled."""
    lock, *ours = root / "lambdas" / "requirements.lock", Path(__file__), Path(compiled.__file__)
    digest = hashlib.sha256(lock.read_bytes() + b"".join(file.read_bytes() for file in ours)).hexdigest()
    return root / ".tools" / "lambda-libraries" / digest[:16]


def _command(root: Path, target: Path) -> list[str]:
    own = root / ".tools" / "uv" / "bin" / "uv"
    uv = str(own) if own.exists() else shutil.which("uv")
    if uv is None:
        raise LibrariesMissing("uv is missing: run `make install`")
    lock = str(root / "lambdas" / "requirements.lock")
    options = ["--quiet", "--target", str(target), "--no-deps", "--require-hashes", *_PLATFORM]
    return [uv, "pip", "install", *options, "-r", lock]


def main() -> None:
    """Install, or end with one sentence."""
    try:
        install()
    except LibrariesMissing as missing:
        sys.exit(f"LibrariesMissing: {missing}")


if __name__ == "__main__":
    main()
