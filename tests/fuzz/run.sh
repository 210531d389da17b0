#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Feeds random bytes to every parser of bytes from outside, under ASan and UBSan, by libFuzzer (Clang).
#
#   bash tests/fuzz/run.sh                         every target for 60 seconds
#   bash tests/fuzz/run.sh --seconds N | --runs N  each for so long, or so often: 100000000 at hand-over
#   bash tests/fuzz/run.sh messenger pmi           these: fuzz_NAME.cpp beside this file
#   bash tests/fuzz/run.sh --jobs N                so many targets at a time; 1 unless it is said
#   bash tests/fuzz/run.sh --build DIR             builds there; build-fuzz/ unless it is said
#
# Inputs that reach new code are kept in DIR/tests/fuzz/grown/TARGET, beside those of tests/fuzz/corpus/TARGET, and the
# next run begins with them. The table at the end says what each target did. The exit status is 0 only when all ran and
# nothing was found; what was found is named, and repeats itself with `DIR/tests/fuzz/fuzz_TARGET FILE`.
set -uo pipefail

usage() { sed -n '/^# Feeds/,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }

give_up() {
  echo "run.sh: $1" >&2
  exit 1
}

limit=-max_total_time=60 jobs=1 build=build-fuzz targets=()
while (($#)); do
  case $1 in
    --seconds | --runs | --jobs | --build)
      (($# > 1)) || give_up "$1 needs a value"
      [[ $1 == --build || $2 =~ ^[1-9][0-9]*$ ]] || give_up "$1 needs a number from 1, not $2"
      case $1 in
        --seconds) limit=-max_total_time=$2 ;;
        --runs) limit=-runs=$2 ;;
        --jobs) jobs=$2 ;;
        --build) build=$2 ;;
      esac
      shift
      ;;
    --help)
      usage
      exit 0
      ;;
    -*) give_up "$1 is no option; there are --seconds N, --runs N, --jobs N, --build DIR and --help" ;;
    *) targets+=("$1") ;;
  esac
  shift
done

# shellcheck source=../../tools/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../tools/setup.sh"
cd "$weft_source" || give_up "no folder $weft_source"
weft_packages+=("${fuzz_packages[@]}")
install_packages || give_up "weft cannot be built here"
for target in "${targets[@]}"; do
  [[ -e tests/fuzz/fuzz_$target.cpp ]] || give_up "there is no tests/fuzz/fuzz_$target.cpp"
done
CC=clang CXX=clang++ configure "$build" -Dtests=enabled "${fuzz_options[@]}" || give_up "$build cannot be configured"
results=$build/tests/fuzz
# That of PMIx is there where its headers are.
((${#targets[@]})) || mapfile -t targets < <(ls "$results/grown")
build "$build" "${targets[@]/#/tests/fuzz/fuzz_}" || give_up "the targets cannot be built"

export ASAN_OPTIONS=malloc_context_size=8:quarantine_size_mb=16 UBSAN_OPTIONS=print_stacktrace=1
# fuzz TARGET: leaves a log, and the status behind it. Weighing the inputs (entropic) takes longer than running most.
fuzz() {
  "$results/fuzz_$1" "$limit" -entropic=0 -timeout=10 -rss_limit_mb=1024 -max_len=4096 \
    -print_final_stats=1 -artifact_prefix="$results/$1-" "$results/grown/$1" "tests/fuzz/corpus/$1" \
    >"$results/$1.log" 2>&1 </dev/null
  echo "status: $?" >>"$results/$1.log"
}
for target in "${targets[@]}"; do
  while (($(jobs -pr | wc -l) >= jobs)); do wait -n; done
  echo "$target ..."
  fuzz "$target" &
done
wait

# field TARGET EXPRESSION: the last number that the log has behind it.
field() { sed -nE "s/.*$2 *([0-9]+).*/\1/p" "$results/$1.log" | tail -n 1; }
failed=0
printf '\n%-14s %12s %8s %6s %8s  %s\n' target runs runs/s edges seconds findings
for target in "${targets[@]}"; do
  found=none
  if [[ $(field "$target" status:) != 0 ]]; then
    found=$(sed -n 's/.*Test unit written to //p' "$results/$target.log" | tail -n 1)
    found=${found:-see $results/$target.log}
    failed=1
  fi
  runs=$(field "$target" 'stat::number_of_executed_units:')
  printf '%-14s %12s %8s %6s %8s  %s\n' "$target" "${runs:-?}" "$(field "$target" 'stat::average_exec_per_sec:')" \
    "$(field "$target" 'cov:')" "$(field "$target" 'Done [0-9]+ runs in')" "$found"
done
exit $failed
