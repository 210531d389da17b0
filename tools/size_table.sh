#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The sizes of the README's program, static and stripped, as a table for tools/PACKAGES.md: what each option saves.
#   bash tools/size_table.sh BUILD
# BUILD is set up as that page's "An image without packages" says; it is set up anew and built for each size.
set -euo pipefail

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$1
stage=$(mktemp -d)
trap 'rm -r "$stage"' EXIT

complete=(-Dkernel_targets= -Dproviders=tcp -Dtypes= -Doperators= -Dsimulator=auto -Dpmi=auto)

# size OPTION...: of a program, bytes, by what is built with these, and complete beside.
size() {
  {
    meson configure "$build" "${complete[@]}" "$@" && meson install -C "$build" --destdir "$stage/root"
  } >"$stage/log" 2>&1 || { tail -n 20 "$stage/log" >&2; exit 1; }
  local pc prefix
  pc=$(find "$stage/root" -name weft.pc)
  prefix=$stage/root$(sed -n 's/^prefix=//p' "$pc")
  # shellcheck disable=SC2046
  ${CXX:-g++} -std=c++20 -O2 -static -s -Wl,--gc-sections "$source/examples/hello.cpp" \
    $(PKG_CONFIG_LIBDIR=${pc%/*} pkg-config --define-variable=prefix="$prefix" --cflags --libs --static weft) \
    -o "$stage/hello" 2>"$stage/log" || { cat "$stage/log" >&2; exit 1; }
  stat -c %s "$stage/hello"
}

# row NAME OPTION...
row() {
  local bytes
  bytes=$(size "${@:2}")
  awk -v name="$1" -v bytes="$bytes" -v all="$all" \
    'BEGIN { printf "| %s | %.2f MB | %.2f MB |\n", name, bytes / 1e6, (all - bytes) / 1e6 }'
}

echo "| | a program | saved |"
echo "| --- | --- | --- |"
all=$(size)
row "everything"
options=(-Dkernel_targets=avx2 -Dkernel_targets=baseline -Dtypes=int32 -Doperators=min -Dsimulator=disabled -Dpmi=disabled
  -Dproviders=none)
for option in "${options[@]}"; do row "\`$option\`" "$option"; done
row "the last six together" "${options[@]:1}"
