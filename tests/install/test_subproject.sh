#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the README's program in a project that has weft as a subproject.
#   test_subproject.sh SOURCE FOLDER MESON WEFT
# FOLDER is kept, so that the next run builds only what has changed.
set -euo pipefail

# shellcheck source=../../tools/setup.sh
source "$1/tools/setup.sh"
source=$1 folder=$2 meson=$3 weft=$(realpath "$4")

fail() {
  echo "FAILED: $1"
  exit 1
}

mkdir -p "$folder/subprojects"
ln -sfnr "$source" "$folder/subprojects/weft"
ln -sfr "$source/examples/hello.cpp" "$folder/hello.cpp"
awk '$0 == "```" { inside = 0 } inside; $0 == "```meson" { inside = 1 }' "$source/tools/PACKAGES.md" >"$folder/meson.build.new"
[[ -s $folder/meson.build.new ]] || fail "tools/PACKAGES.md shows no meson.build"
cmp -s "$folder/meson.build.new" "$folder/meson.build" || cp "$folder/meson.build.new" "$folder/meson.build"

cd "$folder"
# Not an installed one; and quickly built, since it is built only to see that it can be: kernels for one instruction set.
[[ -e build/build.ninja ]] ||
  "$meson" setup build --force-fallback-for=weft -Dbuildtype=plain -Dunity=on -Dunity_size=1000 \
    -Dcpp_args=-DHWY_COMPILE_ONLY_STATIC
ninja -C build

for extra in build/subprojects/weft/{tools,tests,examples}; do
  [[ ! -e $extra ]] || fail "a project that uses weft builds $extra too"
done

# levels FOLDER [VARIABLE=VALUE]: how far weft is optimized in a project that is set up in that folder.
levels() {
  local words folder=$1
  shift
  [[ -e $folder/build.ninja ]] || env "$@" "$meson" setup "$folder" --force-fallback-for=weft >"$folder.log" ||
    { cat "$folder.log"; exit 1; }
  ninja -C "$folder" build.ninja >"$folder.log" || { cat "$folder.log"; exit 1; }
  grep -e '-c \.\./subprojects/weft/' "$folder/compile_commands.json" | while read -ra words; do
    printf '%s\n' "${words[@]}" | grep -E '^(-O|--optimize=)' | tail -n 1
  done | sort -u | paste -sd ' '
}
[[ $(levels usual) == @(--optimize=3|-O3) ]] || fail "weft is not optimized in a project that says nothing of it"
[[ $(levels debugged CXXFLAGS=-O0) == -O0 ]] || fail "weft is optimized in a project that says it should not"

expected="rank 0 of 2: 2 ranks, whose numbers add up to 1
rank 1 of 2: 2 ranks, whose numbers add up to 1"
output=$("$weft" run -n 2 --oversubscribe build/hello | LC_ALL=C sort)
echo "$output"
[[ $output == "$expected" ]] || fail "not what was expected: $expected"
