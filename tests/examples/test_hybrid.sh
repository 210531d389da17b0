#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Ranks that run threads of OpenMP give what one alone does.
#   test_hybrid.sh WEFT HYBRID
set -uo pipefail

weft=$1
hybrid=$2
failures=0

# runs RANKS-AND-OPTIONS GRID THREADS CELLS
runs() {
  local output status=0
  # shellcheck disable=SC2086  # options, to be split
  output=$(timeout 60 "$weft" run --oversubscribe -n $1 "$hybrid" "$4" 30 2>&1) || status=$?
  if ((status != 0)) || [[ $output != "$2 ranks of $3 threads: $4 x $4 cells, 30 steps, "*"; check: passed" ]]; then
    echo "FAILED: -n $1: exit status $status, and \"$output\""
    failures=$((failures + 1))
  fi
}

unset OMP_NUM_THREADS
# Threads that are more than the cores do not keep these from each other while they wait.
export OMP_WAIT_POLICY=passive
runs "1 --cpus-per-rank 3" "1 x 1" 3 60
runs "2 --cpus-per-rank 2" "2 x 1" 2 61
runs "6 --cpus-per-rank 2" "3 x 2" 2 67
runs "4 --cpus-per-rank 2 --ranks-per-process 2" "2 x 2" 2 40
runs "4 --cpus-per-rank 2 --ranks-per-process 4 --workers 1" "2 x 2" 2 40
OMP_NUM_THREADS=5 runs "2 --cpus-per-rank 2" "2 x 1" 5 40

((failures == 0)) && echo "all passed"
exit $((failures != 0))
