#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The sizes of the README's program, static and stripped, as a table for tools/PACKAGES.md.
#   bash tools/size_table.sh BUILD
# BUILD is set up as that page's "An image without packages" says; it is set up anew and built for each size.
set -euo pipefail

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$1
stage=$(mktemp -d)
trap 'rm -r "$stage"' EXIT

# size TARGETS PROVIDERS: of a program for these, in MB.
size() {
  {
    meson setup --reconfigure "$build" -Dkernel_targets="$1" -Dproviders="$2" &&
      meson install -C "$build" --destdir "$stage/root"
  } >"$stage/log" 2>&1 || { tail -n 20 "$stage/log" >&2; exit 1; }
  local pc prefix
  pc=$(find "$stage/root" -name weft.pc)
  prefix=$stage/root$(sed -n 's/^prefix=//p' "$pc")
  # shellcheck disable=SC2046
  ${CXX:-g++} -std=c++20 -O2 -static -s -Wl,--gc-sections "$source/examples/hello.cpp" \
    $(PKG_CONFIG_LIBDIR=${pc%/*} pkg-config --define-variable=prefix="$prefix" --cflags --libs --static weft) \
    -o "$stage/hello" 2>"$stage/log" || { cat "$stage/log" >&2; exit 1; }
  awk -v bytes="$(stat -c %s "$stage/hello")" 'BEGIN { printf "%.2f", bytes / 1e6 }'
}

echo "| \`-Dkernel_targets=\` | \`-Dproviders=tcp\` | \`-Dproviders=none\` |"
echo "| --- | --- | --- |"
for targets in "" avx2 baseline; do
  with=$(size "$targets" tcp)
  without=$(size "$targets" none)
  echo "| ${targets:-all} | $with MB | $without MB |"
done
