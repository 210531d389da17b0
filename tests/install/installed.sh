# SPDX-License-Identifier: Apache-2.0
# For tests that source it with SOURCE BUILD MESON PREFIX LIBDIR: installs weft below $root, in the folder $stage, which
# goes with the test.
# shellcheck shell=bash disable=SC2034  # they use these
source=$1 build=$2 meson=$3 prefix=$4 libdir=$5
stage=$(mktemp -d)
trap 'rm -r "$stage"' EXIT

fail() {
  echo "FAILED: $1"
  exit 1
}

"$meson" install -C "$build" --no-rebuild --destdir "$stage" >"$stage/log" || { cat "$stage/log"; exit 1; }
root=$stage$prefix
