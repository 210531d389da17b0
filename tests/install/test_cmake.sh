#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the README's program in a CMake project that finds an installed weft, shared and static.
#   test_cmake.sh SOURCE BUILD MESON PREFIX LIBDIR VERSION
set -euo pipefail

command -v cmake >/dev/null || { echo "skipped: there is no cmake"; exit 77; }
# shellcheck source=installed.sh
source "$(dirname "${BASH_SOURCE[0]}")/installed.sh" "${@:1:5}"
version=$6
# Nothing depends on where it was to be.
mv "$root" "$stage/moved"

cp "$source/examples/hello.cpp" "$source/tests/install/CMakeLists.txt" "$stage"
# set_up VERSION: with a weft of that version or a later one.
set_up() {
  cmake -S "$stage" -B "$stage/build-$1" -DWEFT_ASKED="$1" -DCMAKE_PREFIX_PATH="$stage/moved" \
    -DCMAKE_LIBRARY_ARCHITECTURE="$(g++ -print-multiarch)" >"$stage/log" 2>&1
}
set_up "$version" || { cat "$stage/log"; fail "CMake does not find weft $version"; }
for wrong in "${version%.*}.$((${version##*.} + 1))" $((${version%%.*} + 1)).0; do
  if set_up "$wrong"; then fail "CMake takes weft $version for $wrong"; fi
done
cmake --build "$stage/build-$version" || fail "CMake does not build it"

cd "$stage/build-$version"
needs() { readelf -d "$1" | grep -q "NEEDED.*libweft.so.1\]"; }
needs hello || fail "weft::weft is not the shared library"
! needs hello_static || fail "weft::static is the shared library"
for program in hello hello_static; do
  for ranks in 1 2; do
    [[ $("$stage/moved/bin/weft" run -n $ranks --oversubscribe ./$program | wc -l) == "$ranks" ]] ||
      fail "$program does not run on $ranks ranks"
  done
done

# What the page shows.
mkdir "$stage/page"
awk '$0 == "```" { inside = 0 } inside; $0 == "```cmake" { inside = 1 }' "$source/tools/PACKAGES.md" >"$stage/page/CMakeLists.txt"
cp "$source/examples/hello.cpp" "$stage/page"
cd "$stage/page"
{
  cmake -S . -B build -DCMAKE_PREFIX_PATH="$stage/moved" -DCMAKE_LIBRARY_ARCHITECTURE="$(g++ -print-multiarch)" &&
    cmake --build build && build/hello
} >"$stage/log" 2>&1 || { cat "$stage/log"; fail "the project in tools/PACKAGES.md does not build"; }
