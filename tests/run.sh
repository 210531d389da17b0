#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets weft up on Debian 12 or later, builds it into build/ and runs every test.
#
#   bash tests/run.sh                 all tests but those of the next options
#   bash tests/run.sh --sanitize      then once more under ASan with UBSan (build-asan/) and under TSan (build-tsan/)
#   bash tests/run.sh --sanitize=REGEX  the same, but under the sanitizers only those whose names match, and only what
#                                       they need is built there; --asan=REGEX, --tsan=REGEX: under that one alone
#   bash tests/run.sh --thorough      beside all tests also jobs over libfabric's other providers and by more launchers on
#                                       several hosts, soaks, counts beyond 2^31 and weft as a subproject, and in
#                                       each test all of that of which it otherwise draws some
#   bash tests/run.sh --aarch64       then the library's and the jobs' tests for aarch64 (build-aarch64/), on emulated
#                                       processors. What a program starts the kernel starts: as root, or with sudo,
#                                       it is told of the emulator
#   bash tests/run.sh --fuzz          then a minute of random bytes for each parser (build-fuzz/; tests/fuzz/run.sh)
#   bash tests/run.sh --only REGEX    those whose names match; `meson test -C build --list` lists them
#
# The last line says `N passed, N failed`, with `, N skipped` where some were: cases, over all builds. The exit status
# is 0 only when all that was to run did run and nothing failed. With CI=true warnings are errors, and packages that only
# some tests need are installed, too: otherwise these are skipped where their packages are not there.
set -uo pipefail

usage() { sed -n '/^# Sets/,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }

give_up() {
  echo "$1" >&2
  echo "0 passed, 1 failed"
  exit 1
}

asan=false tsan=false only= asan_only= tsan_only= aarch64=false fuzz=false suites=(--no-suite thorough)
while (($#)); do
  case $1 in
    --sanitize) asan=true tsan=true ;;
    --sanitize=*) asan=true asan_only=${1#*=} tsan=true tsan_only=${1#*=} ;;
    --asan=*) asan=true asan_only=${1#*=} ;;
    --tsan=*) tsan=true tsan_only=${1#*=} ;;
    --thorough)
      suites=()
      export WEFT_TEST_THOROUGH=1
      ;;
    --aarch64) aarch64=true ;;
    --fuzz) fuzz=true ;;
    --only)
      (($# > 1)) || give_up "run.sh: --only needs a regular expression"
      only=$2
      shift
      ;;
    --help)
      usage
      exit 0
      ;;
    *) give_up "run.sh: $1 is no option; there are --sanitize[=REGEX], --asan=REGEX, --tsan=REGEX, --thorough, --aarch64, --fuzz, --only REGEX and --help" ;;
  esac
  shift
done

# shellcheck source=../tools/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/../tools/setup.sh"
cd "$weft_source" || give_up "run.sh: no folder $weft_source"
[[ ${CI:-} == true ]] && weft_packages+=("${test_packages[@]}")
$aarch64 && weft_packages+=("${aarch64_packages[@]}")
$fuzz && weft_packages+=("${fuzz_packages[@]}")
install_packages || give_up "run.sh: weft cannot be built here"

# run_tests BUILD_DIR [OPTION...]: configures with these Meson options, builds and tests: where only some tests are to
# run, just what these need. Leaves a log, or none.
run_tests() {
  local build=$1 names=()
  shift
  rm -f "$build"/meson-logs/testlog.json "$build"/meson-logs/sanitizer.*
  configure "$build" -Dtests=enabled "$@" && build "$build" ${only:+build.ninja} || return
  if [[ $only ]]; then
    mapfile -t names < <(meson test -C "$build" --no-rebuild --list | sed -n 's|^.* / ||p' | grep -E -- "$only")
    if ((${#names[@]} == 0)); then
      echo "run.sh: no test's name matches $only" >&2
      return
    fi
  fi
  ((${#names[@]})) || names=("${suites[@]}")
  # One more than there are cores: many wait more than they compute.
  meson test -C "$build" --print-errorlogs --num-processes "$(($(nproc) + 1))" "${names[@]}"
}

builds=(build)
run_tests build
wanted=$only
# run_checked BUILD_DIR ONLY SANITIZERS: those tests, or where none are named all that are wanted. GCC's warnings are those
# of the release: what the sanitizers put in only adds false ones. Reports need the lines and functions of -g1: what a
# debugger needs beside takes a third of ASan's compiling. A half of it is kernels for all instruction sets: where only
# some tests run they are compiled for one.
run_checked() {
  only=${2:-$wanted}
  builds+=("$1")
  run_tests "$1" -Dwerror=false -Doptimization=1 -Ddebug=true -Db_ndebug=false -Db_sanitize="$3" \
    "-Dcpp_args=-g1${only:+ -DHWY_COMPILE_ONLY_STATIC}"
}
$asan && run_checked build-asan "$asan_only" address,undefined
$tsan && run_checked build-tsan "$tsan_only" thread
if $aarch64; then
  only=$wanted
  builds+=(build-aarch64)
  rm -f build-aarch64/meson-logs/testlog.json
  aarch64_sysroot build-aarch64/sysroot && start_aarch64_programs &&
    run_tests build-aarch64 -Doptimization=1 --cross-file "$PWD/build-aarch64/sysroot/cross.ini"
fi
if $fuzz; then
  only='^fuzz '
  builds+=(build-fuzz)
  CC=clang CXX=clang++ run_tests build-fuzz "${fuzz_options[@]}"
fi
exec python3 tests/count.py "${builds[@]}"
