#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the solver as a job, from the command line to the exit status.
#   test_cg.sh WEFT CG RESILIENT_CG
set -uo pipefail

weft=$1
cg=$2
resilient=$3
directory=$(mktemp -d)
trap 'rm -r "$directory"' EXIT
failures=0

fail() {
  echo "FAILED: $1"
  sed 's/^/  out: /' "$directory/out"
  sed 's/^/  err: /' "$directory/err"
  failures=$((failures + 1))
}

# job RANKS STATUS ARGUMENT...: runs cg and checks its exit status; RANKS may be followed by options of weft run.
job() {
  local ranks=$1 expected=$2 status=0
  shift 2
  name="cg $* on $ranks ranks"
  # shellcheck disable=SC2086  # options, to be split
  timeout 60 "$weft" run --oversubscribe -n $ranks "$cg" "$@" >"$directory/out" 2>"$directory/err" || status=$?
  ((status == expected)) || fail "$name: exit status $status, not $expected"
}

prints() { grep -qE -- "$1" "$directory/out" || fail "$name: prints no \"$1\""; }

# The message comes once, whatever the launcher adds.
complains() {
  [[ $(grep -cF -- "$1" "$directory/err") == 1 ]] || fail "$name: does not say once \"$1\""
}

# A membrane with stiff and soft parts, some hundred unknowns.
membrane() {
  awk 'BEGIN {
    n = 300; print "%%MatrixMarket matrix coordinate real symmetric"; print n, n, n + (n - 1) + (n - 20)
    for (i = 1; i <= n; i++) {
      s = 1 + (i % 7) * (i % 11)
      printf "%d %d %.15g\n", i, i, 200 + 4 * s
      if (i > 1) printf "%d %d %.15g\n", i, i - 1, -60
      if (i > 20) printf "%d %d %.15g\n", i, i - 20, -40 - i % 3
    }
  }'
}
membrane >"$directory/membrane.mtx"

for ranks in 1 2 3 4 7 "8 --ranks-per-process 4" "6 --ranks-per-process 6"; do
  job "$ranks" 0 --stencil 12 --check
  prints "converged in [0-9]+ iterations"
  prints "check: +passed"
  job "$ranks" 0 "$directory/membrane.mtx" --check --json --tolerance 1e-10
  prints "\"ranks\":${ranks%% *},\"unknowns\":300,"
  prints "\"converged\":true"
  prints "\"check_passed\":true"
  [[ $(wc -l <"$directory/out") == 1 ]] || fail "$name: prints more than one object"
done
# By puts the halo has the same numbers, to the bit, on a node and by messages alone.
export WEFT_TUNE=off
for node in on off; do
  export WEFT_NODE=$node
  for ranks in 3 "8 --ranks-per-process 4"; do
    for halo in messages puts; do
      job "$ranks" 0 --stencil 12 --check --json --halo $halo
      prints "\"check_passed\":true"
      sed -E 's/"[a-z_]*seconds":[^,}]*//g' "$directory/out" >"$directory/$halo"
    done
    cmp "$directory/messages" "$directory/puts" || fail "$name: other numbers than by messages"
  done
done
unset WEFT_NODE WEFT_TUNE
job 5 0 --stencil 1 --check    # ranks without rows
job 5 0 --stencil 1 --check --halo puts
job 3 1 --stencil 8 --max-iterations 2
prints "NOT CONVERGED after 2 iterations"
job 2 0 --help
prints "--max-iterations"

for ranks in 1 3 "4 --ranks-per-process 2"; do
  job "$ranks" 1 "$directory/missing.mtx"
  complains "missing.mtx: No such file"
  sed '$d' "$directory/membrane.mtx" >"$directory/truncated.mtx"
  job "$ranks" 1 "$directory/truncated.mtx" --json
  complains "truncated.mtx:880: the file ends here, after 878 of 879 entries"
  # Only the ranks that own the row see that it is a duplicate.
  { sed '$d' "$directory/membrane.mtx"; echo "300 299 -60"; } >"$directory/duplicate.mtx"
  job "$ranks" 1 "$directory/duplicate.mtx"
  complains "duplicate.mtx:881: this entry is there already, in line 880"
  job "$ranks" 1 --stencil none
  complains "\"none\" is not an integer"
  job "$ranks" 1 --frobnicate
  complains "not expected: --frobnicate"
done

# Where processes die: one, three one after another, and all three that have some rows.
cg=$resilient
survivors="8 --on-failure continue"
job "$survivors" 0 --stencil 12 --check
prints "check: +passed"
for deaths in "--kill 3@7" "--kill 0@5 --kill 1@11 --kill 6@11" "--kill 2@1 --kill 0@17"; do
  # shellcheck disable=SC2086  # options, to be split
  job "$survivors" 137 --stencil 12 --check --tolerance 1e-10 --save-every 5 $deaths
  prints "^lost rank"
  prints "check: +passed"
  grep -q "from the beginning" "$directory/out" && fail "$name: rows were lost"
done
job "$survivors" 137 --stencil 12 --check --kill 4@10 --kill 5@10 --kill 6@10
prints "from the beginning"
prints "check: +passed"
# The same with spares: as many ranks as there were, on one node and on two, until there are none left.
for deaths in "--kill 3@7" "--kill 0@5 --kill 6@11"; do
  for spares in "--spares 2" "--spares 4 --ranks-per-process 2"; do
    # shellcheck disable=SC2086  # options, to be split
    job "8 $spares" 137 --stencil 12 --check --tolerance 1e-10 --save-every 5 $deaths
    prints "^lost rank"
    prints ": 8 of 8 ranks go on"
    prints "check: +passed"
    grep -q "from the beginning" "$directory/out" && fail "$name: rows were lost"
  done
done
job "4 --spares 1" 137 --stencil 12 --check --tolerance 1e-10 --save-every 5 --kill 0@5 --kill 3@13
prints ": 4 of 4 ranks go on"
prints ": 3 of 4 ranks go on"
prints "check: +passed"
job "4 --spares 2" 0 --stencil 12 --check
prints "check: +passed"
# With files: where all die the next job goes on, on as many ranks as it has; what is wrong with them is said.
mkdir "$directory/saved"
disk="--disk $directory/saved --save-every 5 --tolerance 1e-10"
all_die="--kill 0@12 --kill 1@12 --kill 2@12 --kill 3@12"
for ranks in 4 3 "5 --ranks-per-process 5"; do
  # shellcheck disable=SC2086  # options, to be split
  job 4 137 --stencil 12 $disk $all_die
  touch "$directory/saved/state-3-0-of-4.new"
  # shellcheck disable=SC2086
  job "$ranks" 0 --stencil 12 --check $disk
  prints "^from iteration 10, by the files"
  prints "check: +passed"
  [[ -z $(ls "$directory/saved") ]] || fail "$name: leaves files of a system that is solved"
done
# shellcheck disable=SC2086
job "$survivors" 137 --stencil 12 --check $disk --kill 4@12 --kill 5@12 --kill 6@12
prints "check: +passed"
grep -q "from the beginning" "$directory/out" && fail "$name: the files were not used"
# shellcheck disable=SC2086
job 4 137 --stencil 12 $disk $all_die
# shellcheck disable=SC2086
job 2 1 --stencil 13 $disk
complains "1728 unknowns, not of"
truncate -s -8 "$directory/saved/state-2-1-of-4"
# shellcheck disable=SC2086
job 2 1 --stencil 12 $disk
complains "state-2-1-of-4: this file has another length than its rows"
job 2 1 --stencil 12 --disk "$directory/none"
complains "$directory/none"

job 2 1 --stencil 12 --kill never
complains "\"never\" is not a rank and an iteration"

((failures == 0)) && echo "all passed"
exit $((failures != 0))
