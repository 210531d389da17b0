#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The small examples, which compare what they compute with what one process does.
#   test_small.sh WEFT RANKS PROGRAM [ARGUMENT...]   (RANKS: "1 2 5")
set -euo pipefail

weft=$1 ranks=$2
shift 2
for count in $ranks; do
  echo "$* on $count ranks"
  out=$(timeout 60 "$weft" run --oversubscribe -n "$count" "$@") || { echo "FAILED: it ends with $?"; exit 1; }
  [[ $out == *serial* ]] || { echo "FAILED: it says: $out"; exit 1; }
done
