#!/usr/bin/env bash
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
awk '$0 == "```" { inside = 0 } inside; $0 == "```meson" { inside = 1 }' "$source/README.md" >"$folder/meson.build.new"
[[ -s $folder/meson.build.new ]] || fail "the README shows no meson.build"
cmp -s "$folder/meson.build.new" "$folder/meson.build" || cp "$folder/meson.build.new" "$folder/meson.build"

cd "$folder"
# Not an installed one; and quickly built, since it is built only to see that it can be.
[[ -e build/build.ninja ]] || "$meson" setup build --force-fallback-for=weft -Dbuildtype=plain "${by_folders[@]}"
ninja -C build

for extra in build/subprojects/weft/{tools,tests,examples}; do
  [[ ! -e $extra ]] || fail "a project that uses weft builds $extra too"
done

expected="rank 0 of 2: 2 ranks, whose numbers add up to 1
rank 1 of 2: 2 ranks, whose numbers add up to 1"
output=$("$weft" run -n 2 --oversubscribe build/hello | LC_ALL=C sort)
echo "$output"
[[ $output == "$expected" ]] || fail "not what was expected: $expected"
