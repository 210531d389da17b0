#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the installed libraries show to linkers.
#   test_symbols.sh SOURCE BUILD MESON PREFIX LIBDIR
set -euo pipefail

# shellcheck source=installed.sh
source "$(dirname "${BASH_SOURCE[0]}")/installed.sh" "$@"
shared=$root/$libdir/libweft.so
cd "$stage"

# names FILE KINDS OPTION...: what nm shows of it, of these kinds, without what they are of a class, return and take.
names() {
  nm --defined-only "${@:3}" "$1" | awk -v kinds="$2" 'NF > 2 && $2 ~ kinds { print $3 }' | c++filt |
    sed -E 's/[(<].*//; s/\[abi:[^]]*\]//; s/.* //' | LC_ALL=C sort -u
}
readelf -d "$shared" | grep -q 'SONAME.*\[libweft.so.1\]' || fail "the shared library's name is not libweft.so.1"

# The shared library shows names that stand in public headers, every part of them, and nothing else.
{
  find "$root/include" -type f -exec g++ -fpreprocessed -dD -E -P -x c++ {} \; 2>/dev/null
  gcc -E -P -I"$root/include" -x c "$root/include/weft.h"  # some of its declarations are made by macros
} |
  grep -oE '[A-Za-z_][A-Za-z_0-9]*' | LC_ALL=C sort -u >words
names "$shared" . -D >shown
echo "the shared library shows $(nm -D --defined-only "$shared" | wc -l) symbols"
grep -vE '^weft(::|_)' shown && fail "these are not weft's"
grep -oE '[A-Za-z_][A-Za-z_0-9]*' shown | LC_ALL=C sort -u | LC_ALL=C comm -23 - words >inner
[[ ! -s inner ]] || { grep -wFf inner shown; fail "no public header has these"; }

# It calls its own functions without a detour, those that it shows, too.
readelf -rW "$shared" | c++filt | grep -E 'JUMP_SLO.* weft(::|_)' && fail "it calls these of its own as if another library had them"

# All global names of the archive are weft's, but for what compilers make wherever it is used.
names "$root/$libdir/libweft.a" '[^uvVwW]' --extern-only | grep -vE '^weft(::|_)' && fail "these of the archive are not weft's"
exit 0
