#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every function of weft.h, by jobs that take every road.  test_c_api.sh WEFT PROGRAM
set -euo pipefail

weft=$1 program=$2

try() {
  echo "$*"
  "$@" || { echo "FAILED: $*"; exit 1; }
}
try "$weft" run -n 2 "$program"
try "$weft" run -n 4 --oversubscribe --ranks-per-process 2 "$program" ranks
try "$weft" run -n 3 --oversubscribe --ranks-per-process 3 --workers 1 "$program" ranks
try "$weft" run -n 3 --oversubscribe --provider net "$program" --weft-node=off
try "$weft" run -n 2 --progress thread "$program" --weft-check=on
