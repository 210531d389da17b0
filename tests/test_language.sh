#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# By an older C++ a program is told once what is needed; and the header's version is the project's.
#
#     test_language.sh VERSION INCLUDES COMPILER...
version=$1 includes=$2
shift 2
said=$(printf '#include <weft/weft.hpp>\n' | "$@" -std=c++17 -fsyntax-only -I "$includes" -x c++ - 2>&1)
if [ "$(printf '%s\n' "$said" | grep -c 'error:')" != 1 ] || ! printf '%s' "$said" | grep -q 'weft needs C++20'; then
  printf 'C++17 is to be told that C++20 is needed, and no more; it was told:\n%s\n' "$said"
  exit 1
fi
found=$(printf '#include <weft/version.hpp>\nWEFT_VERSION_MAJOR.WEFT_VERSION_MINOR.WEFT_VERSION_PATCH\n' |
  "$@" -std=c++20 -E -P -I "$includes" -x c++ - | tail -1 | tr -d ' ')
[ "$found" = "$version" ] || { echo "weft/version.hpp says $found, the project $version"; exit 1; }
