#!/usr/bin/env bash
# Installs everything the project needs into the project's own folders (.tools, .venv, node_modules), or says in one
# sentence what the machine lacks. Repeating it costs nothing while all is there and what decides it is unchanged.
set -euo pipefail
unset CDPATH # where a person's cd looks first, which may have a folder called like this one's
cd "$(dirname "$0")/.."

UV_VERSION=0.13.8
fail() { printf 'make install: %s\n' "$1" >&2; exit 1; }

# A Python that has to be fetched belongs to the project as all else does.
export UV_PYTHON_INSTALL_DIR=$PWD/.tools/python
id -un >/dev/null 2>&1 || fail "This user, $(id -u), has no name on this machine, and Spark needs one; add a line for it to /etc/passwd."
# The one that Spark starts, whatever else there is.
java=${JAVA_HOME:+$JAVA_HOME/bin/}java named=${JAVA_HOME:+" in $JAVA_HOME, which JAVA_HOME names"}
command -v "$java" >/dev/null || fail "Java is missing$named; install a Java 17 runtime (Debian: apt-get install openjdk-17-jre-headless)."
java_version=$("$java" -version 2>&1 | sed -n 's/.* version "\([^"]*\).*/\1/p' | head -n 1)
[ "${java_version%%[!0-9]*}" = 17 ] \
  || fail "Java is version ${java_version:-unknown}$named; install Java 17, as EMR 7 has (Debian: apt-get install openjdk-17-jre-headless)."
command -v node >/dev/null && command -v npm >/dev/null || fail "Node.js or npm is missing; install Node.js 20 or newer."
node_version=$(node --version | sed 's/^v\([0-9]*\).*/\1/')
[ "$node_version" -ge 20 ] || fail "Node.js is version $node_version; install Node.js 20 or newer."
command -v python3 >/dev/null || fail "python3 is missing; install any Python 3 with venv."

# The functions' libraries are those of their lock file and of infra/libraries.py, compiled by infra/compiled.py: their folder is named by both.
decides=(requirements.lock lambdas/requirements.lock package-lock.json scripts/install.sh local/spark_jars.py local/spark_jars.lock
  local/aws/emr/class_archive.py local/aws/emr/rehearsal.py infra/libraries.py infra/compiled.py)
# By the archive of classes no other Java starts and none from another folder, and neither says so: jobs are only slower.
here=$(pwd -P)
stamp=.tools/installed-$({ printf '%s\n' "$here" "$(command -v "$java")" "$java_version"; cat "${decides[@]}"; } | cksum | cut -d ' ' -f 1)
# A folder may have been removed since: what the other verbs start is looked at, too.
is_there() { [ -x .venv/bin/python ] && [ -x node_modules/.bin/cdk ] && compgen -G '.tools/lambda-libraries/*/' && compgen -G '.tools/ivy/jars/*.jar'; }
[ -f "$stamp" ] && is_there >/dev/null && exit 0
mkdir -p .tools
# What is begun here may not come to its end: nothing of before counts as installed from here on.
rm -f .tools/installed-*
exec 3>&1
say() { printf '  %s\n' "$1" >&3; }

say "tools: uv $UV_VERSION"
if [ "$(.tools/uv/bin/uv --version 2>/dev/null | cut -d ' ' -f 2)" != "$UV_VERSION" ]; then
  python3 -m venv --clear .tools/uv 2>/dev/null || fail "python3 has no venv module (Debian: apt-get install python3-venv)."
  .tools/uv/bin/pip install --quiet --no-user "uv==$UV_VERSION"
fi
say "Python 3.11 and the locked packages"
# What is there without a Python that starts is of a machine that was another, and what was made in another folder has
# programs that start that folder's Python: uv would write over neither.
is_of_here() { [ -x .venv/bin/python ] && grep -qsF "$here/.venv" .venv/bin/activate; }
is_of_here || .tools/uv/bin/uv venv --quiet --clear --python 3.11 .venv \
  || fail "Python 3.11 was neither found nor could be fetched; install Python 3.11."
.tools/uv/bin/uv pip sync --quiet --python .venv/bin/python --require-hashes requirements.lock
# Else each of the processes that begin together would compile the same modules for itself. Of these packages few modules are
# ever imported, by few processes: all of them are two thirds of the work.
.venv/bin/python -m compileall -q -x '/(aws_cdk|sympy|pandas|numpy|networkx|matplotlib|fontTools|tests)/' .venv/lib & of_modules=$!
# What needs no more than this is fetched while Spark's jars are.
say "the CDK CLI and the state machine checker, the functions' libraries"
# The tools are for development, which npm leaves out, and says nothing, where NODE_ENV is production.
npm ci --silent --no-progress --include=dev & of_node=$!
.venv/bin/python -m infra.libraries & of_functions=$!
say "Spark's jars"
# Spark's resolver prints every address it asks; that is worth reading only when it fails.
.venv/bin/python -m local.spark_jars > .tools/jars.log 2>&1 \
  || { tail -n 30 .tools/jars.log >&2; fail "the jars could not be fetched, or are others; the log is .tools/jars.log."; }
say "an archive of Spark's classes, for jobs that start in half the time"
.venv/bin/python -m local.aws.emr.class_archive > .tools/classes.log 2>&1 \
  || { tail -n 30 .tools/classes.log >&2; fail "Spark could not be started; the log is .tools/classes.log."; }
wait "$of_modules" || fail "the Python packages could not be compiled; the reason stands above."
wait "$of_node" || fail "the packages of package-lock.json could not be installed; what npm said stands above."
wait "$of_functions" || fail "the functions' libraries could not be installed; the reason stands above."

touch "$stamp"
