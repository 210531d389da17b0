#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the README's program as a static one that needs nothing of the machine: weft and the libraries it uses from
# source, by Meson's subprojects.
#   test_static.sh SOURCE FOLDER MESON WEFT
# FOLDER is kept, so that the next run builds only what has changed. The archives of the libraries are those in
# SOURCE/subprojects/packagecache, or what tools/fetch_subprojects.sh can fetch.
set -euo pipefail

source=$1 folder=$2 meson=$3 weft=$(realpath "$4")

fail() {
  echo "FAILED: $1"
  exit 1
}
skip() {
  echo "skipped: $1"
  exit 77
}

archives=$folder/weft/subprojects/packagecache
mkdir -p "$archives"
cd "$folder"
for archive in "$source"/subprojects/packagecache/*; do [[ ! -e $archive ]] || ln -sf "$archive" "$archives/"; done
bash "$source/tools/fetch_subprojects.sh" "$archives" >fetch.log 2>&1 || skip "$(tail -n 1 fetch.log)"

# The source as it is, but for what Meson unpacks into it.
for name in "$source"/*; do
  [[ ${name##*/} == @(subprojects|build|build-*) ]] || ln -sfn "$name" weft/
done
cp -r "$source"/subprojects/{*.wrap,packagefiles} weft/subprojects/
# Overlays are laid when an archive is unpacked: also what has been unpacked takes the newest.
for wrap in weft/subprojects/*.wrap; do
  into=weft/subprojects/$(sed -n 's/^directory = //p' "$wrap")
  [[ ! -d $into ]] || cp -rT "weft/subprojects/packagefiles/$(sed -n 's/^patch_directory = //p' "$wrap")" "$into"
done

# Nothing of what is installed here is found.
export PKG_CONFIG_LIBDIR=/nonexistent
[[ -e build/build.ninja ]] ||
  "$meson" setup build weft --wrap-mode=forcefallback -Ddefault_library=static -Dprefer_static=true \
    -Doptimization=s -Dkernel_targets=baseline -Dpmi=disabled -Dtools=disabled -Dexamples=disabled \
    --prefix "$folder/installed" --libdir lib >setup.log || { tail -n 20 setup.log; exit 1; }
"$meson" install -C build >install.log || { tail -n 20 install.log; exit 1; }
find weft/subprojects/boost -mindepth 2 -maxdepth 2 -not -path '*/libs/con[ft]*' -not -path '*/libs/core' -exec rm -r {} +

export PKG_CONFIG_LIBDIR=$folder/installed/lib/pkgconfig
expected="rank 0 of 2: 2 ranks, whose numbers add up to 1
rank 1 of 2: 2 ranks, whose numbers add up to 1"
# runs PROGRAM OPTION...: as two processes.
runs() {
  local output
  output=$("$weft" run -n 2 --oversubscribe "${@:2}" "./$1" | LC_ALL=C sort)
  [[ $output == "$expected" ]] || fail "$1 says '$output' with ${*:2}"
}
for kind in static static-pie; do
  # shellcheck disable=SC2046
  g++ -std=c++20 -O2 -$kind -Wl,--gc-sections "$source/examples/hello.cpp" $(pkg-config --cflags --libs --static weft) \
    -Wl,-y,dlopen -o hello-$kind 2>link.log || { cat link.log; fail "hello does not link with -$kind"; }
  # The C library's own search for addresses may load something.
  grep -F 'reference to dlopen' link.log | grep -v 'libc\.a' && fail "what is linked with -$kind loads libraries"
  strip hello-$kind
  readelf -lW hello-$kind | grep -E 'INTERP' && fail "what is linked with -$kind needs a loader"
  echo "hello linked with -$kind has $(stat -c %s hello-$kind) bytes"
  [[ $(env -i ./hello-$kind) == "rank 0 of 1: 1 ranks, whose numbers add up to 0" ]] || fail "hello does not run alone"
  runs hello-$kind
  if PMI_FD=3 PMI_RANK=0 PMI_SIZE=2 ./hello-$kind 2>said; then fail "hello does without the PMI that it is started by"; fi
  grep -q 'has no PMI' said || { cat said; fail "it is not said that there is no PMI"; }
  WEFT_NODE=off runs hello-$kind --provider tcp
done
