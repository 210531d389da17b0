#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# weft for Python, from the build and as pip installs it.
#   test_python.sh SOURCE WEFT FOLDER_OF_LIBRARY
set -euo pipefail

source=$1 weft=$2 export_library=$3
stage=$(mktemp -d)
trap 'rm -r "$stage"' EXIT
export LD_LIBRARY_PATH=$export_library PYTHONDONTWRITEBYTECODE=1

# The first Python that has what it needs.
python=
for each in $(which -a python3); do
  "$each" -c 'import cffi, numpy' 2>"$stage/missing" && { python=$each; break; }
done
[[ -n $python ]] || { echo "SKIPPED: $(tail -1 "$stage/missing")"; exit 77; }

try() {
  echo "$*"
  "$@" || { echo "FAILED: $*"; exit 1; }
}

# As it is: the declarations beside it are made of the header.
mkdir "$stage/direct"
cp -r "$source/tools/python/weft" "$stage/direct"
(cd "$stage/direct" && PYTHONPATH=$source/tools/python $python -c 'import declarations; declarations.made.compile()')
export PYTHONPATH=$stage/direct
api=$source/tests/python/api.py
try "$weft" run -n 2 $python "$api"
try "$weft" run -n 3 --oversubscribe --provider net -x WEFT_NODE=off $python "$api"
for example in heat sample_sort training; do
  bash "$source/tests/examples/test_small.sh" "$weft" "1 3" $python "$source/examples/$example.py"
done
bash "$source/tests/examples/test_small.sh" "$weft" 2 $python "$source/examples/sample_sort.py" 0

# Two ranks of which one raises, with something in flight: the job ends, its error is seen, and what it has written is there.
cat >"$stage/raises.py" <<'END'
import atexit
import sys
import numpy
import weft
atexit.register(lambda: print("refused" if refused() else "called"))
def refused():
    try:
        world.barrier()
    except weft.Error:
        return True
world = weft.world()
if world.rank == 1:
    file = open(sys.argv[1], "w")
    file.write("written")
    request = world.irecv(numpy.zeros(1000), 0, 9)
    raise ValueError("rank 1 raises")
world.barrier()
END
status=0
timeout 30 "$weft" run -n 2 $python "$stage/raises.py" "$stage/file" >"$stage/out" 2>&1 || status=$?
[[ $status == 1 ]] && grep -q "ValueError: rank 1 raises" "$stage/out" && grep -q refused "$stage/out" && [[ $(cat "$stage/file") == written ]] ||
  { cat "$stage/out"; echo "FAILED: an exception ends with $status"; exit 1; }

$python -c 'import venv, ensurepip, setuptools' 2>"$stage/missing" || { echo "without pip: $(tail -1 "$stage/missing")"; exit 0; }
unset PYTHONPATH
$python -m venv --system-site-packages "$stage/venv"
cp -r "$source/tools/python" "$stage/python"
try env PYWEFT_HEADER="$source/collectives/c/include/weft.h" "$stage/venv/bin/pip" install --quiet --no-build-isolation --no-deps --no-index "$stage/python"
try "$weft" run -n 2 "$stage/venv/bin/python" "$api"
