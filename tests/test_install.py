"""`make install` leaves at once where all is there, and only there. What it would fetch is stood in for by little scripts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = (ROOT / "scripts" / "install.sh").read_text()
#: Whatever the stamp is made of.
DECIDES = re.findall(r"\S+\.(?:lock|json|sh|py)\b", SCRIPT.split("decides=(")[1].split("\n# ")[0])
#: Each of what is installed, as the script's own steps leave it.
INSTALLED = (
    ".venv/bin/python",
    "node_modules/.bin/cdk",
    ".tools/lambda-libraries/0123456789abcdef/boto3",
    ".tools/ivy/jars/iceberg.jar",
)
_MAKE = 'make() { mkdir -p "$(dirname "$1")"; echo "#!/bin/sh" > "$1"; chmod +x "$1"; }\n'
_PYTHON = f"""{_MAKE}case "$2" in
  infra.libraries) make {INSTALLED[2]} ;;
  local.spark_jars) make {INSTALLED[3]} ;;
esac
"""
#: It leaves out what is for development where the environment says so, with success and without a word, unless it is told.
_NPM = f"""{_MAKE}case "$*" in
  *--include=dev*) NODE_ENV= ;;
esac
[ "$NODE_ENV" = production ] || make {INSTALLED[1]}
"""


def executable(file: Path, body: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)


class Tree:
    """A source tree in which everything can be "installed" without a network."""

    def __init__(self, root: Path) -> None:
        self.root, self.machine = root, root.with_name("machine")
        for name in DECIDES:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, root / name)
        (version,) = re.findall(r"^UV_VERSION=(\S+)$", SCRIPT, flags=re.MULTILINE)
        executable(self.machine / "java", """echo 'openjdk version "17.0.9"' >&2""")
        executable(self.machine / "node", "echo v20.1.0")
        executable(self.machine / "npm", _NPM)
        executable(self.machine / "python3", "exit 1")
        executable(self.machine / "python of the project", _PYTHON)
        copy = f"cp '../machine/python of the project' {INSTALLED[0]}; echo \"$PWD/.venv\" > .venv/bin/activate"
        venv = (
            f'case "$*" in *--clear*) rm -rf .venv;; esac; if [ -e .venv ]; then exit 2; fi; mkdir -p .venv/bin; {copy}'
        )
        executable(
            root / ".tools" / "uv" / "bin" / "uv", f'case "$1" in --version) echo uv {version};; venv) {venv};; esac'
        )

    def run(self, java_home: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        """Run the script, as `make` does; `more`: what a person has in the environment."""
        path = f"{self.machine}:{os.environ['PATH']}"
        return subprocess.run(
            ["scripts/install.sh"],  # noqa: S607 - below the tree, as `make` says it
            cwd=self.root,
            env={**os.environ, "PATH": path, "JAVA_HOME": java_home, **more},
            capture_output=True,
            text=True,
            check=False,
        )

    def install(self) -> bool:
        """Whether the script has found anything to do."""
        done = self.run()
        assert (done.returncode, done.stderr) == (0, "")
        return bool(done.stdout)

    @property
    def missing(self) -> list[str]:
        return [name for name in INSTALLED if not (self.root / name).exists()]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A tree in which all is installed."""
    made = Tree(tmp_path / "tree")
    assert (made.install(), made.missing) == (True, [])
    return made


def test_nothing_is_done_again_while_all_is_there(tree: Tree) -> None:
    assert tree.install() is False


@pytest.mark.parametrize("name", INSTALLED)
def test_what_somebody_has_removed_is_installed_again(tree: Tree, name: str) -> None:
    shutil.rmtree(tree.root / Path(name).parent)
    assert (tree.install(), tree.missing) == (True, [])
    assert tree.install() is False


def test_an_environment_whose_python_is_gone_is_made_again(tree: Tree) -> None:
    """As where the folder was moved that Python was fetched into, or the machine has let go of its own."""
    python = tree.root / INSTALLED[0]
    python.unlink()
    python.symlink_to("/nowhere/python3.11")
    assert (tree.install(), tree.missing) == (True, [])
    assert tree.install() is False


def test_what_was_installed_in_another_folder_is_installed_again(tree: Tree) -> None:
    """A folder that was moved, or copied: its programs would start the Python of the other one, or none."""
    moved = tree.root.with_name("moved")
    tree.root.rename(moved)
    tree.root = moved
    of_before = moved / ".venv" / "of_before"
    of_before.touch()
    assert (tree.install(), tree.missing, of_before.exists()) == (True, [], False)
    assert tree.install() is False


@pytest.mark.parametrize("name", ["infra/libraries.py", "lambdas/requirements.lock", "package-lock.json"])
def test_what_another_version_decides_otherwise_is_installed_again(tree: Tree, name: str) -> None:
    with (tree.root / name).open("a") as file:
        file.write("\n")
    assert tree.install() is True
    assert tree.install() is False


def test_what_was_installed_before_one_that_failed_is_installed_again(tree: Tree) -> None:
    lock, npm = tree.root / "package-lock.json", tree.machine / "npm"
    before, works = lock.read_text(), npm.read_text()
    lock.write_text(before + "\n")
    npm.write_text("#!/bin/sh\nexit 1\n")
    assert tree.run().returncode != 0
    lock.write_text(before)
    npm.write_text(works)
    assert tree.install() is True
    assert tree.install() is False


def test_the_java_that_spark_will_start_is_looked_at_and_no_other(tree: Tree) -> None:
    home = tree.root / "jvm"
    gone = tree.run(java_home=str(home))
    assert (gone.returncode, f"Java is missing in {home}, which JAVA_HOME names" in gone.stderr) == (1, True)
    executable(home / "bin" / "java", """echo 'openjdk version "11.0.2"' >&2""")
    old = tree.run(java_home=str(home))
    assert (old.returncode, f"Java is version 11.0.2 in {home}, which JAVA_HOME names" in old.stderr) == (1, True)
    executable(home / "bin" / "java", """echo 'openjdk version "17.0.9"' >&2""")
    assert tree.run(java_home=str(home)).returncode == 0


def test_another_java_gets_an_archive_of_its_own(tree: Tree) -> None:
    """As the machine's own updates bring it."""
    executable(tree.machine / "java", """echo 'openjdk version "17.0.10"' >&2""")
    assert tree.install() is True
    assert tree.install() is False


def test_the_tools_are_installed_on_a_machine_that_is_for_production(tree: Tree) -> None:
    shutil.rmtree(tree.root / "node_modules")
    assert (tree.run(NODE_ENV="production").returncode, tree.missing) == (0, [])


def test_uv_is_installed_where_pip_is_told_to_install_for_the_user(tree: Tree) -> None:
    """As by some hosts of containers. In an environment of its own pip refuses that, unless it is told otherwise."""
    (tree.root / ".tools" / "uv" / "bin" / "uv").rename(tree.machine / "uv")
    installs = 'case "$PIP_USER $*" in 1*--no-user*) cp ../machine/uv .tools/uv/bin/uv ;; *) exit 1 ;; esac'
    executable(tree.machine / "pip", installs)
    executable(tree.machine / "python3", "cp ../machine/pip .tools/uv/bin/pip")
    shutil.rmtree(tree.root / ".venv")
    assert (tree.run(PIP_USER="1").returncode, tree.missing) == (0, [])


def test_a_folder_of_folders_to_go_to_leads_nowhere_else(tree: Tree, tmp_path: Path) -> None:
    """As where a shell's CDPATH names a home with a folder `scripts`: `cd` would look there first."""
    (tmp_path / "home" / "scripts").mkdir(parents=True)
    done = tree.run(CDPATH=str(tmp_path / "home"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_user_without_a_name_is_told_so(tree: Tree) -> None:
    """As in a container that runs as a number: Spark would not start, and its log would be all that is said."""
    executable(tree.machine / "id", 'case "$1" in -un) exit 1;; esac; echo 12345')
    done = tree.run()
    assert (done.returncode, done.stderr.splitlines()) == (
        1,
        [
            "make install: This user, 12345, has no name on this machine, and Spark needs one; add a line for it to /etc/passwd."
        ],
    )
